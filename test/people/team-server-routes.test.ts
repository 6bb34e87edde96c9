import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { addCast, startTeamGateway, type Cast, type TeamGateway, type Told } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";

let team: TeamGateway;
let cast: Cast;
/** Of olga, an owner of red. */
let ask: (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Told>;

const at = "/api/teams/red/installations";

beforeAll(async () => {
  team = await startTeamGateway();
  cast = await addCast(team);
  ask = async (method, path, body, headers) =>
    await team.ask(cast.olga, method, path, {
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    });
  const file = join(team.directory, "mail.json");
  await writeFile(
    file,
    JSON.stringify({
      entry: badServer("--behaviours=env,canary"),
      fields: [
        { path: "env.CANARY", type: "secret" },
        { path: "env.REGION", tier: "team" },
        { path: "env.CITY", tier: "team" },
        { path: "env.SHADE" },
        { path: "env.HIDDEN", tier: "template", default: "x", visible: false },
      ],
    }),
  );
  await team.command("template", "add", "mail", "--file", file);
});
afterAll(async () => await team[Symbol.asyncDispose]());

/** A name for each test, so that none meets another's. */
async function install(slug: string, given: object = {}): Promise<string> {
  const made = await ask("POST", at, { template: "mail", slug, ...given });
  expect([made.status, made.text]).toEqual([200, expect.stringContaining(slug)]);
  return `${at}/${slug}`;
}

type Field = Readonly<Record<"path" | "type" | "value", string | null>> & { readonly set: boolean };
const whatIsSet = ({ json }: Told): unknown =>
  Object.fromEntries((json.fields as Field[]).filter(({ set }) => set).map(({ path, value }) => [path, value]));

async function audited(
  action: string,
  object: string,
): Promise<{ readonly outcome: string; readonly detail: string }[]> {
  const { json } = await team.ask(cast.ann, "GET", `/api/audit?action=${action}&limit=1000`);
  return json.entries.filter((entry: { object: string }) => entry.object === object);
}

test("PUT makes what is given all that a team has set for a server, PATCH leaves the rest", async () => {
  const path = await install("post", { values: { "env.REGION": "eu", "env.CITY": "Ulm" } });
  const patched = await ask("PATCH", `${path}/config/team`, { values: { "env.REGION": "us", "env.CANARY": "of-red" } });
  expect(whatIsSet(patched)).toEqual({ "env.REGION": "us", "env.CITY": "Ulm", "env.CANARY": null });
  const before = (await audited("server.config.team", "post")).length;
  const put = await ask("PUT", `${path}/config/team`, { values: { "env.CITY": "Bonn" } });
  expect([put.status, whatIsSet(put)]).toEqual([200, { "env.CITY": "Bonn" }]);
  // The secret is gone, and not only out of sight.
  expect((await ask("GET", "/api/teams/red/secrets")).json.secrets).toEqual([]);
  const { text } = await team.ask(cast.bob, "POST", "/execute/post%3Aenv", { body: {} });
  expect([text.includes("Bonn"), text.includes("of-red")]).toEqual([true, false]);
  const entries = await audited("server.config.team", "post");
  expect(entries.length).toBe(before + 1);
  expect(JSON.stringify(entries)).toContain("env.CANARY");
  expect(JSON.stringify(entries)).not.toContain("Bonn");
});

test("PUT is refused where somebody else came first, and changes nothing then or when one value is refused", async () => {
  const path = await install("late", { values: { "env.REGION": "eu", "env.CITY": "Ulm" } });
  const { headers } = await ask("GET", `${path}/config/team`);
  const tag = String(headers.get("etag"));
  await ask("PATCH", `${path}/config/team`, { values: { "env.CITY": "Bonn" } });
  const late = await ask("PUT", `${path}/config/team`, { values: {} }, { "if-match": tag });
  expect([late.status, late.json.code]).toEqual([412, "REVISION_MISMATCH"]);
  const wrong = await ask("PUT", `${path}/config/team`, { values: { "env.CITY": "Kiel", "env.HIDDEN": "mine" } });
  expect([wrong.status, wrong.json.code]).toEqual([422, "VALUE_REFUSED"]);
  expect(whatIsSet(await ask("GET", `${path}/config/team`))).toEqual({ "env.REGION": "eu", "env.CITY": "Bonn" });
});

test("PUT of one's own values replaces those of nobody else, and works for servers of the file", async () => {
  const path = await install("mine", { values: { "env.REGION": "eu" } });
  for (const who of ["bob", "tom"] as const)
    await team.ask(cast[who], "PATCH", `${path}/config/me`, {
      body: { values: { "env.CANARY": `key-of-${who}`, "env.SHADE": who } },
    });
  const put = await team.ask(cast.bob, "PUT", `${path}/config/me`, { body: { values: { "env.SHADE": "red" } } });
  expect(whatIsSet(put)).toEqual({ "env.SHADE": "red" });
  const toms = await team.ask(cast.tom, "GET", `${path}/config/me`);
  expect(whatIsSet(toms)).toEqual({ "env.CANARY": null, "env.SHADE": "tom" });
  const file = await team.ask(cast.bob, "PUT", `${at}/own/config/me`, {
    body: { values: { "env.CANARY": "for-own" } },
  });
  expect([file.status, whatIsSet(file)]).toEqual([200, { "env.CANARY": null }]);
  const none = await team.ask(cast.bob, "PUT", `${at}/own/config/me`, { body: { values: {} } });
  expect(whatIsSet(none)).toEqual({});
});

test("PUT leaves what is locked as it was, secrets too, and only null takes it away", async () => {
  const path = await install("kept", { values: { "env.REGION": "eu" } });
  const own = { "env.CANARY": "key-of-bob", "env.SHADE": "blue" };
  await team.ask(cast.bob, "PATCH", `${path}/config/me`, { body: { values: own } });
  const locked = await ask("PATCH", path, { locks: ["env.CANARY", "env.SHADE"] });
  expect([locked.status, locked.text]).toEqual([200, expect.stringContaining("env.SHADE")]);
  expect((await team.ask(cast.bob, "PUT", `${path}/config/me`, { body: { values: {} } })).status).toBe(200);
  await ask("PATCH", path, { locks: [] });
  const after = await team.ask(cast.bob, "GET", `${path}/config/me`);
  expect(whatIsSet(after)).toEqual({ "env.CANARY": null, "env.SHADE": "blue" });
  await ask("PATCH", path, { locks: ["env.CANARY", "env.SHADE"] });
  const taken = { "env.CANARY": null, "env.SHADE": null };
  await team.ask(cast.bob, "PUT", `${path}/config/me`, { body: { values: taken } });
  await ask("PATCH", path, { locks: [] });
  expect(whatIsSet(await team.ask(cast.bob, "GET", `${path}/config/me`))).toEqual({});
});

test("what is not there is not taken away in silence, and a name that was misspelt is told", async () => {
  const path = await install("mistyped", { values: { "env.REGION": "eu" } });
  const gone = async (who: string, tier: string, name: string): Promise<readonly unknown[]> => {
    const body = { values: { [name]: null } };
    const { status, json } = await team.ask(who, "PATCH", `${path}/config/${tier}`, { body });
    return [status, json.code, json.detail];
  };
  const refused = (text: string): unknown => [422, "VALUE_REFUSED", expect.stringMatching(text)];
  expect(await gone(cast.olga, "team", "env.REGOIN")).toEqual(refused("^env.REGOIN .*did you mean `env.REGION`"));
  // A field that somebody does not see, or does not set, is told of as none.
  expect(await gone(cast.bob, "me", "env.HIDEN")).toEqual(refused("^env.HIDEN is not yours to set$"));
  expect(await gone(cast.bob, "me", "env.HIDDEN")).toEqual(refused("^env.HIDDEN is not yours to set$"));
  expect(await gone(cast.bob, "me", "env.SHAED")).toEqual(refused("did you mean `env.SHADE`"));
  expect((await gone(cast.bob, "me", "env.SHADE"))[0]).toBe(200);
  expect((await gone(cast.olga, "team", "env.REGION"))[0]).toBe(200);
});

test("one secret is shown without its value, by name and by id, to those who run the team", async () => {
  await ask("PUT", "/api/teams/red/secrets/MAIL", { value: "very-secret-of-red" });
  const byName = await ask("GET", "/api/teams/red/secrets/MAIL");
  expect(byName.json).toMatchObject({ name: "MAIL", server: null, used: null });
  expect(Object.keys(byName.json as object).sort()).toEqual(["id", "name", "server", "updated", "used"]);
  expect((await ask("GET", `/api/teams/red/secrets/${byName.json.id}`)).text).toBe(byName.text);
  expect((await ask("GET", "/api/teams/red/secrets/NONE")).json.code).toBe("SECRET_UNKNOWN");
  expect((await team.ask(cast.bob, "GET", "/api/teams/red/secrets/MAIL")).status).toBe(403);
  expect((await team.ask(cast.cid, "GET", `/api/teams/red/secrets/${byName.json.id}`)).status).toBe(404);
  // One's own are nobody else's to look at, not even whether they are there.
  const path = await install("own-key");
  await team.ask(cast.bob, "PATCH", `${path}/config/me`, { body: { values: { "env.CANARY": "bobs" } } });
  expect((await ask("GET", "/api/teams/red/secrets")).json.secrets).toMatchObject([{ name: "MAIL" }]);
  await ask("DELETE", "/api/teams/red/secrets/MAIL");
});

test("one template is shown with its fields, and its revision is what a change takes", async () => {
  const found = await team.ask(cast.ann, "GET", "/api/templates/mail");
  expect(found.json).toMatchObject({ slug: "mail", source: "own", transport: "stdio", version: 1 });
  expect(found.json.fields.map(({ path }: Field) => path)).toEqual([
    "env.CANARY",
    "env.REGION",
    "env.CITY",
    "env.SHADE",
  ]);
  expect((await ask("GET", "/api/templates/file:own")).json).toMatchObject({ source: "file", slug: "own" });
  expect((await ask("GET", "/api/templates/none")).json.code).toBe("TEMPLATE_UNKNOWN");
  const web = { entry: { url: "https://mcp.example.com/mcp" } };
  const made = (await ask("POST", "/api/templates", { slug: "web", team: "red", ...web })).json;
  const { headers } = await ask("GET", `/api/templates/${made.id}`);
  const tag = { "if-match": String(headers.get("etag")) };
  expect((await team.ask(cast.cid, "GET", `/api/templates/${made.id}`)).status).toBe(404);
  expect((await ask("PATCH", `/api/templates/${made.id}`, { fields: [] }, tag)).status).toBe(200);
  expect((await ask("PATCH", `/api/templates/${made.id}`, { fields: [] }, tag)).status).toBe(412);
});

test("a test says of a server that works what it offers, and of one that does not why and what to do", async () => {
  const path = await install("good");
  const good = await ask("POST", `${path}/test`);
  expect(good.json).toMatchObject({ ok: true, status: "online", problem: null });
  expect(good.json.tools).toBeGreaterThan(0);
  // The same once more, without another process: it runs already.
  const pid = async (): Promise<string> =>
    (await team.ask(cast.olga, "POST", "/execute/good%3Aenv", { body: {} })).text;
  const first = await pid();
  expect((await ask("POST", `${path}/test`)).json).toMatchObject({ ok: true });
  expect(await pid()).toBe(first);
  const broken = join(team.directory, "broken.json");
  const entry = { command: process.execPath, args: ["-e", "console.error('it is broken'); process.exit(3)"] };
  await writeFile(broken, JSON.stringify({ entry, fields: [] }));
  await team.command("template", "add", "broken", "--file", broken);
  await install("bad", { template: "broken" });
  const bad = await ask("POST", `${at}/bad/test`);
  expect([bad.status, bad.json.ok, bad.json.tools]).toEqual([200, false, 0]);
  expect(bad.json.problem).toContain("it is broken");
  expect((await audited("server.test", "bad")).length).toBe(1);
  // Whoever is in no team of theirs has no instance to try.
  const foreign = await team.ask(cast.ann, "POST", "/api/teams", { body: { slug: "green" } });
  expect(foreign.status).toBeLessThan(300);
  await team.ask(cast.ann, "POST", "/api/teams/green/installations", { body: { template: "mail" } });
  const none = await team.ask(cast.ann, "POST", "/api/teams/green/installations/mail/test");
  expect([none.status, none.json.code]).toEqual([409, "INSTALLATION_CONFLICT"]);
  expect((await team.ask(cast.bob, "POST", `${path}/test`)).json.code).toBe("FORBIDDEN");
});

test("a test waits for a start that is under way, for which others wait as well", async () => {
  const gate = join(team.directory, "gate");
  const slow = join(team.directory, "slow.json");
  const wait = `const fs = require("node:fs"); fs.appendFileSync(${JSON.stringify(gate)}, "x");`;
  const entry = {
    command: process.execPath,
    args: ["-e", `${wait} setInterval(() => fs.existsSync(${JSON.stringify(`${gate}.open`)}) && process.exit(3), 20)`],
  };
  await writeFile(slow, JSON.stringify({ entry, fields: [] }));
  await team.command("template", "add", "slow", "--file", slow);
  const path = await install("slow", { template: "slow", scope: "shared" });
  const starts = async (): Promise<string> => await readFile(gate, "utf8").catch(() => "");
  const first = ask("POST", `${path}/test`);
  await until(async () => (await starts()) === "x");
  const second = ask("POST", `${path}/test`);
  await until(async () => (await audited("server.test", "slow")).length === 2);
  await writeFile(`${gate}.open`, "");
  const both = await Promise.all([first, second]);
  for (const { json } of both)
    expect([json.ok, json.problem]).toEqual([false, expect.not.stringContaining("restarted")]);
  // It ended before it had answered anything, so one start is two processes.
  expect(await starts()).toBe("xx");
});

test("three servers of a team are tested at once, whoever asks, and no other team waits for them", async () => {
  const gate = join(team.directory, "turns");
  const file = join(team.directory, "turns.json");
  const entry = {
    command: process.execPath,
    args: ["-e", `setInterval(() => require("node:fs").existsSync(${JSON.stringify(gate)}) && process.exit(3), 20)`],
  };
  await writeFile(file, JSON.stringify({ entry, fields: [] }));
  await team.command("template", "add", "turns", "--file", file);
  const path = await install("turns", { template: "turns", scope: "shared" });
  const first = ["olga", "tom", "olga"] as const;
  const tested = first.map(async (who) => await team.ask(cast[who], "POST", `${path}/test`));
  await until(async () => (await audited("server.test", "turns")).length === 3);
  const fourth = await team.ask(cast.tom, "POST", `${path}/test`);
  expect([fourth.status, fourth.json.code, fourth.headers.get("retry-after")]).toEqual([429, "RATE_LIMITED", "1"]);
  await team.ask(cast.cid, "POST", "/api/teams/blue/installations", { body: { template: "mail", slug: "turns" } });
  const others = await team.ask(cast.cid, "POST", "/api/teams/blue/installations/turns/test");
  expect(others.json).toMatchObject({ ok: true });
  await writeFile(gate, "");
  for (const { status } of await Promise.all(tested)) expect(status).toBe(200);
  expect((await audited("server.test", "turns")).length).toBe(4);
  expect((await ask("POST", `${path}/test`)).status).toBe(200);
});

test("an admin of the gateway sees the templates of every team, and a token for single servers what those came from", async () => {
  const entry = { url: "https://mcp.example.com/mcp" };
  const body = { slug: "ours", team: "blue", entry };
  const made = (await team.ask(cast.cid, "POST", "/api/templates", { body })).json;
  const shown = await team.ask(cast.ann, "GET", `/api/templates/${made.id}`);
  expect([shown.status, shown.json.slug]).toEqual([200, "ours"]);
  const tag = { "if-match": String(shown.headers.get("etag")) };
  const patch = { body: { fields: [] }, headers: tag };
  expect((await team.ask(cast.ann, "PATCH", `/api/templates/${made.id}`, patch)).status).toBe(200);
  const slugs = async (token: string, query = ""): Promise<readonly string[]> => {
    const { json } = await team.ask(token, "GET", `/api/templates${query}`);
    return json.templates.map(({ slug }: { slug: string }) => slug);
  };
  expect(await slugs(cast.ann)).not.toContain("ours");
  expect(await slugs(cast.ann, "?team=blue")).toContain("ours");
  expect(await slugs(cast.olga, "?team=red")).toContain("mail");
  const [foreign, none] = [
    await team.ask(cast.olga, "GET", "/api/templates?team=blue"),
    await team.ask(cast.olga, "GET", "/api/templates?team=nobody"),
  ];
  expect([foreign.status, foreign.text]).toEqual([404, none.text]);
  // By its name it is found as well as by its id, also one of the file.
  expect((await ask("GET", "/api/templates/own")).json).toMatchObject({ source: "file", slug: "own" });
  await install("only-this");
  const limited = async (only: string): Promise<string> =>
    (await team.ask(cast.bob, "POST", "/api/me/tokens", { body: { only: [only] } })).json.token;
  const ofInstalled = await limited("only-this");
  expect(await slugs(ofInstalled)).toEqual(["mail"]);
  expect((await team.ask(ofInstalled, "GET", "/api/templates/own")).text).toBe(
    (await team.ask(ofInstalled, "GET", "/api/templates/nix")).text,
  );
  expect((await team.ask(ofInstalled, "GET", "/api/templates/mail")).status).toBe(200);
  expect(await slugs(await limited("own"))).toEqual(["own"]);
});

test("a change of thousands of values is refused, and an entry of the audit has what was changed and no more", async () => {
  const path = await install("full", { values: { "env.REGION": "eu" } });
  const many = (count: number, value: string | null) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`env.NOTHING_${at}`, value]));
  for (const [method, whose] of [
    ["PATCH", "team"],
    ["PUT", "team"],
    ["PATCH", "me"],
    ["PUT", "me"],
  ] as const) {
    const { status, json } = await ask(method, `${path}/config/${whose}`, { values: many(3_000, null) });
    expect([status, json.code]).toEqual([400, "PARAMS_INVALID"]);
  }
  expect(await audited("server.config.team", "full")).toEqual([]);
  expect((await ask("PATCH", `${path}/config/team`, { values: many(150, null) })).status).toBe(422);
  const gone = { "env.CITY": null, "env.REGION": null };
  expect((await ask("PATCH", `${path}/config/team`, { values: gone })).status).toBe(200);
  const [entry] = await audited("server.config.team", "full");
  expect(JSON.parse(entry?.detail ?? "")).toEqual({ paths: ["env.REGION"] });
  const file = join(team.directory, "wide.json");
  const fields = Object.keys(many(80, null)).map((name) => ({ path: name }));
  await writeFile(file, JSON.stringify({ entry: badServer("--behaviours=env"), fields }));
  await team.command("template", "add", "wide", "--file", file);
  await ask("POST", at, { template: "wide" });
  const all = await team.ask(cast.bob, "PATCH", `${at}/wide/config/me`, { body: { values: many(80, "x") } });
  expect(all.status).toBe(200);
  const [last] = await audited("server.config.me", "wide");
  expect(JSON.parse(last?.detail ?? "")).toMatchObject({ more: 30 });
});

test("a refresh reaches the instances that run, of all members, and starts none", async () => {
  const path = await install("many");
  expect((await ask("POST", `${path}/refresh`)).json).toEqual({ instances: [] });
  for (const who of ["bob", "tom"] as const) {
    const called = await team.ask(cast[who], "POST", "/execute/many%3Aenv", { body: {} });
    expect([who, called.status]).toEqual([who, 200]);
  }
  const ids = await Promise.all(
    (["bob", "tom"] as const).map(async (who) => String((await team.ask(cast[who], "GET", "/api/me")).json.id)),
  );
  const { instances } = (await ask("POST", `${path}/refresh`)).json;
  for (const member of ids)
    expect(instances).toContainEqual(expect.objectContaining({ member, status: "online", problem: null }));
  // cid is in another team, and has none of it.
  const others = (await team.ask(cast.cid, "GET", "/api/me")).json.id as string;
  expect(instances.map(({ member }: { member: string }) => member)).not.toContain(others);
  expect((await audited("server.refresh", "many")).length).toBe(2);
  expect((await team.ask(cast.bob, "POST", `${path}/refresh`)).json.code).toBe("FORBIDDEN");
});

test("one's tokens for an instance are listed without themselves, and nobody else's", async () => {
  const [instance] = await until(async () => {
    const found = (await team.ask(cast.bob, "GET", "/api/instances")).json.instances as { id: string }[];
    return found.length > 0 && found;
  });
  const path = `/api/instances/${encodeURIComponent(String(instance?.id))}/token`;
  expect((await team.ask(cast.bob, "GET", path)).json).toEqual({ tokens: [] });
  const made = [(await team.ask(cast.bob, "POST", path)).json, (await team.ask(cast.bob, "POST", path)).json];
  const { json, text } = await team.ask(cast.bob, "GET", path);
  expect(json.tokens).toMatchObject([{ valid: true }, { valid: true }]);
  expect(new Set(json.tokens.map(({ id }: { id: string }) => id)).size).toBe(2);
  for (const { token } of made) expect(text).not.toContain(String(token).slice(8, 24));
  // An admin of the team sees that bob has an instance, and nothing of his tokens.
  expect((await ask("GET", path)).status).toBe(404);
  expect((await team.ask(cast.bob, "DELETE", path)).json).toEqual({ revoked: 2 });
  expect((await team.ask(cast.bob, "GET", path)).json).toEqual({ tokens: [] });
});

test("one registered app is shown without its secret, to admins of the gateway", async () => {
  const body = { name: "Ledger", redirectUris: ["https://ledger.example/callback"], hasSecret: true };
  const made = (await team.ask(cast.ann, "POST", "/api/auth/clients", { body })).json;
  const found = await team.ask(cast.ann, "GET", `/api/auth/clients/${made.id}`);
  expect(found.json).toMatchObject({ id: made.id, name: "Ledger", hasSecret: true, apps: 0, expires: null });
  expect(found.text).not.toContain(String(made.secret));
  expect((await team.ask(cast.ann, "GET", "/api/auth/clients/nobody")).status).toBe(404);
  expect((await ask("GET", `/api/auth/clients/${made.id}`)).status).toBe(403);
});
