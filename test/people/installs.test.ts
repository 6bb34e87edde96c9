import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
let gateway: RunningGateway;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-installs-"));
  gateway = await start();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const behaviours = "--behaviours=canary,env,hang,in-flight";
const own = { ...badServer(`${behaviours},argv`), scope: "user", optional: { user: ["env.CANARY"] } };

async function start(mcpServers: Readonly<Record<string, object>> = { own }): Promise<RunningGateway> {
  return await startGateway({ directory, config: { mcpServers }, args: ["--team"] });
}

async function command(words: readonly string[], input?: string): Promise<CommandResult> {
  const where = ["--config", gateway.configFile, "--data-dir", join(directory, "data")];
  return await runCommand([...words, ...where], {}, input);
}

/** The answer of a command that must succeed. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function ask(...words: string[]): Promise<any> {
  return await askWith(undefined, ...words);
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function askWith(input: string | undefined, ...words: string[]): Promise<any> {
  const { code, stdout, stderr } = await command([...words, "--json"], input);
  expect([words, code, stderr]).toEqual([words, 0, ""]);
  return JSON.parse(stdout);
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function addTemplate(name: string, fields: readonly object[], entry: object = badServer(behaviours)) {
  const file = join(directory, `${name}.json`);
  await writeFile(file, JSON.stringify({ entry, fields }));
  await ask("template", "add", name, "--file", file);
}

/** ann, an admin, and bob in red; cid in blue. */
async function addThree(): Promise<Readonly<Record<"ann" | "bob" | "cid", string>>> {
  const ann = (await ask("user", "add", "ann", "--admin", "--team", "red")).made.token;
  await ask("team", "add", "blue");
  const bob = (await ask("user", "add", "bob", "--team", "red")).made.token;
  const cid = (await ask("user", "add", "cid", "--team", "blue")).made.token;
  return { ann, bob, cid };
}

async function textOf(path: string, token: string): Promise<string> {
  return (await run(gateway.url, path, {}, bearer(token))).text;
}

/** How many processes have this in their environment: servers, as the system sees them. */
async function processesWith(text: string): Promise<number> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(ids.map(async (id) => await readFile(`/proc/${id}/environ`, "latin1").catch(() => "")));
  return all.filter((environment) => environment.includes(text)).length;
}

async function serversOf(token: string): Promise<{ slug: string; status: string; reason: string }[]> {
  return (await get(`${gateway.url}/api/servers`, bearer(token))).json.servers;
}

test("two teams have the same server under the same name without meeting, each with its own values", async () => {
  const { bob, cid } = await addThree();
  await addTemplate("mail", [{ path: "env.CANARY", tier: "team" }]);
  await ask("install", "mail", "--team", "red", "--as", "post", "--set", "env.CANARY=canary-of-red");
  expect((await serversOf(cid)).map(({ slug }) => slug)).toEqual(["own"]);
  await ask("install", "mail", "--team", "blue", "--as", "post", "--set", "env.CANARY=canary-of-blue");
  const [red, blue] = [await textOf("post:env", bob), await textOf("post:env", cid)];
  expect([red.includes("canary-of-red"), red.includes("canary-of-blue")]).toEqual([true, false]);
  expect([blue.includes("canary-of-red"), blue.includes("canary-of-blue")]).toEqual([false, true]);
  await ask("config", "set", "post", "env.CANARY=canary-of-red-two", "--team", "red");
  await until(async () => (await textOf("post:env", bob)).includes("canary-of-red-two"));
  expect(await textOf("post:env", cid)).toContain("canary-of-blue");
  await ask("uninstall", "post", "--team", "red");
  expect((await serversOf(bob)).map(({ slug }) => slug)).toEqual(["own"]);
  expect(await textOf("post:env", cid)).toContain("canary-of-blue");
});

test("a missing value is named with who has to give it, and the server runs as soon as it is there", async () => {
  const { bob } = await addThree();
  await addTemplate("mail", [{ path: "env.CANARY", type: "secret", required: true }]);
  await ask("install", "mail", "--team", "red");
  const [, mail] = await serversOf(bob);
  expect(mail).toMatchObject({ slug: "mail", status: "awaiting_user_config" });
  expect(mail?.reason).toMatch(
    /env\.CANARY has to come from you: open http:\/\/127\.0\.0\.1:[1-9]\d*\/connect\/mail-red-m_\S+ in a browser/,
  );
  expect(mail?.reason).toContain("or PATCH /api/teams/red/installations/mail/config/me");
  expect((await run(gateway.url, "mail:env", {}, bearer(bob))).status).toBeGreaterThanOrEqual(400);
  await askWith("bobs-secret-value\n", "config", "set", "mail", "env.CANARY=-", "--team", "red", "--user", "bob");
  await until(async () => (await textOf("mail:env", bob)).includes("bobs-secret-value"));
  const { values } = await ask("config", "get", "mail", "--team", "red", "--user", "bob");
  expect(values.fields).toMatchObject([{ path: "env.CANARY", set: true, value: null, type: "secret" }]);
  // Nobody else's: ann has none yet.
  expect(JSON.stringify(await ask("config", "get", "mail", "--team", "red"))).not.toContain("bobs-secret-value");
});

interface Called {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  readonly json: any;
  readonly etag: string | null;
}

async function send(method: string, path: string, token: string, body?: object, ifMatch?: string): Promise<Called> {
  const headers = { ...bearer(token), "content-type": "application/json", ...(ifMatch ? { "if-match": ifMatch } : {}) };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${gateway.url}${path}`, { method, headers, ...sent });
  const text = await response.text();
  return {
    status: response.status,
    json: text === "" ? undefined : JSON.parse(text),
    etag: response.headers.get("etag"),
  };
}

test("over REST an admin of the team installs, a member gives values of their own, and others are told nothing", async () => {
  const { ann, bob, cid } = await addThree();
  await ask("team", "members", "blue", "--add", "bob", "--role", "admin");
  const boss = (await ask("token", "new", "--user", "bob", "--team", "blue")).made.token;
  await addTemplate("mail", [
    { path: "env.CANARY", type: "secret", required: true },
    { path: "env.REGION", tier: "team", type: "enum", enum: ["eu", "us"], default: "eu" },
    { path: "env.FIXED", tier: "template", default: "of the template", locked: true, visible: false },
  ]);
  const at = "/api/teams/blue/installations";
  const refused = await send("POST", at, cid, { template: "mail" });
  expect([refused.status, refused.json.code]).toEqual([403, "FORBIDDEN"]);
  const made = await send("POST", at, boss, { template: "mail", slug: "post", values: { "env.REGION": "us" } });
  expect(made.json).toMatchObject({ slug: "post", source: "db", scope: "user", revision: 1 });
  expect((await send("POST", at, boss, { template: "mail", slug: "own" })).json.code).toBe("CONFIG_FROM_FILE");
  expect((await send("POST", at, boss, { template: "mail", slug: "post" })).json.code).toBe("INSTALLATION_CONFLICT");
  expect((await send("PATCH", `${at}/own`, boss, { name: "x" })).json.code).toBe("CONFIG_FROM_FILE");
  // The other team, its ids and names: as if they were not there.
  // An admin of the gateway sees what every team has, by name and by id.
  for (const path of [at, `${at}/post`, `${at}/${made.json.id}`])
    expect([path, (await send("GET", path, ann)).status]).toEqual([path, 200]);
  const foreign = (await ask("token", "new", "--user", "bob", "--team", "red")).made.token;
  for (const path of [
    at,
    `${at}/post`,
    `/api/teams/red/installations/${made.json.id}`,
    `/api/teams/red/installations/post`,
  ])
    expect([path, (await send("GET", path, foreign)).status]).toEqual([path, 404]);
  // A member sees what is theirs to give, and nothing that is hidden.
  const seen = await send("GET", `${at}/post/config/me`, cid);
  expect(seen.json.fields.map(({ path, editable }: { path: string; editable: boolean }) => [path, editable])).toEqual([
    ["env.CANARY", true],
    ["env.REGION", false],
  ]);
  const given = await send("PATCH", `${at}/post/config/me`, cid, { values: { "env.CANARY": "cids-own-secret" } });
  expect([given.status, JSON.stringify(given.json).includes("cids-own-secret")]).toEqual([200, false]);
  for (const [path, value] of [
    ["env.REGION", "us"],
    ["env.FIXED", "mine"],
    ["env.LD_PRELOAD", "/tmp/evil.so"],
    ["env.OTHER", "x"],
    ["args", ["--evil"]],
  ] as const)
    expect([path, (await send("PATCH", `${at}/post/config/me`, cid, { values: { [path]: value } })).json.code]).toEqual(
      [path, "VALUE_REFUSED"],
    );
  const inherited = await send("PATCH", `${at}/post/config/me`, cid, { values: { ["__proto__"]: "x" } });
  expect([inherited.status, inherited.json.code]).toEqual([400, "PARAMS_INVALID"]);
  expect((await command(["config", "set", "post", "__proto__=x", "--team", "blue"])).stderr).toContain("__proto__");
  await until(async () => (await textOf("post:env", cid)).includes("cids-own-secret"));
  const which = await send(
    "GET",
    `${at}/post/members/${(await ask("team", "members", "blue")).members.find(({ user }: { user: string }) => user === "cid").id}/config`,
    boss,
  );
  expect(which.json).toEqual({ set: ["env.CANARY"] });
  const changed = await send("PATCH", `${at}/post`, boss, { locks: ["env.CANARY"] }, made.etag ?? "");
  expect([changed.status, changed.json.locks]).toEqual([200, ["env.CANARY"]]);
  expect((await send("PATCH", `${at}/post`, boss, { name: "late" }, made.etag ?? "")).json.code).toBe(
    "REVISION_MISMATCH",
  );
  await until(
    async () => (await serversOf(cid)).find(({ slug }) => slug === "post")?.status === "awaiting_user_config",
  );
  expect((await send("DELETE", `${at}/post`, boss)).status).toBe(200);
  expect((await serversOf(cid)).map(({ slug }) => slug)).toEqual(["own"]);
  expect((await send("GET", "/api/teams/red/installations", bob)).json.installations).toMatchObject([
    { source: "file", slug: "own" },
  ]);
});

test("a team installs no more servers than an admin allows it", async () => {
  await addThree();
  await addTemplate("mail", [], badServer(behaviours));
  await ask("install", "mail", "--team", "red");
  await ask("team", "limits", "red", "--most-servers", "1");
  const refused = await command(["install", "mail", "--team", "red", "--as", "post"]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("at most 1 servers")]);
  await ask("team", "limits", "red", "--most-servers", "2");
  await ask("install", "mail", "--team", "red", "--as", "post");
});

test("a team installs no more programs than an admin allows it, and servers with an address beside them", async () => {
  await addThree();
  await addTemplate("mail", [], badServer(behaviours));
  await addTemplate("web", [], { url: "https://mcp.example.com/mcp" });
  await ask("team", "limits", "red", "--most-programs", "1");
  await ask("install", "web", "--team", "red");
  await ask("install", "mail", "--team", "red");
  for (const template of ["mail", "file:own"]) {
    const refused = await command(["install", template, "--team", "red", "--as", "post"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("at most 1 program,")]);
  }
  await ask("install", "web", "--team", "red", "--as", "site");
  await ask("uninstall", "mail", "--team", "red");
  await ask("install", "file:own", "--team", "red", "--as", "post");
  expect((await command(["install", "mail", "--team", "red"])).code).toBe(1);
});

test("FAULT 91: whoever manages a team brings in no program, by whichever way a template comes", async () => {
  await addThree();
  await ask("team", "members", "red", "--add", "cid", "--role", "owner");
  const boss = (await ask("token", "new", "--user", "cid", "--team", "red")).made.token;
  const program = { command: "/bin/sh", args: ["-c", "touch /tmp/was-here"] };
  const make = async (body: object) =>
    await send("POST", "/api/templates", boss, { slug: "evil", team: "red", ...body });
  const npm = { registryType: "npm", identifier: "evil", version: "1.0.0", transport: { type: "stdio" } };
  for (const body of [
    { entry: program },
    { entry: { ...program, type: "stdio" } },
    { serverJson: { name: "a/evil", packages: [npm] } },
    { entry: { url: "http://127.0.0.1:1/mcp" } },
    { entry: { url: "http://169.254.169.254/latest" } },
    { entry: { url: "https://mcp.example.com/mcp", proxy: "http://evil.example" } },
    { entry: { url: "https://mcp.example.com/mcp", tls: { caFile: "/etc/passwd" } } },
    { entry: { urls: ["https://mcp.example.com/mcp", "http://127.0.0.1:9/mcp"] } },
    { entry: { url: "https://mcp.example.com/mcp", replicas: 64 } },
    { team: undefined, entry: { url: "https://mcp.example.com/mcp" } },
  ])
    expect([JSON.stringify(body), (await make(body)).status]).toEqual([JSON.stringify(body), 403]);
  const web = await make({
    entry: { url: "https://mcp.example.com/mcp" },
    fields: [{ path: "headers.X-Key", type: "secret" }],
  });
  expect(web.status).toBe(200);
  expect((await send("PATCH", `/api/templates/${web.json.id}`, boss, { entry: program, fields: [] })).status).toBe(403);
  const blue = (await ask("token", "new", "--user", "cid", "--team", "blue")).made.token;
  expect((await send("PATCH", `/api/templates/${web.json.id}`, blue, { fields: [] })).status).toBe(403);
  expect((await send("GET", "/api/templates", blue)).json.templates.map(({ slug }: { slug: string }) => slug)).toEqual([
    "own",
  ]);
});

test("what members gave of their own is forgotten when whoever runs the team leads the server elsewhere", async () => {
  const { ann, bob } = await addThree();
  await ask("team", "members", "red", "--add", "cid", "--role", "admin");
  const boss = (await ask("token", "new", "--user", "cid", "--team", "red")).made.token;
  const entry = { url: "https://mail.example.com/mcp" };
  const fields = [
    { path: "headers.X-Key", type: "secret", required: true },
    { path: "query.colour", type: "string" },
    { path: "headers.X-Team", type: "secret", tier: "team" },
  ];
  const made = await send("POST", "/api/templates", boss, { slug: "mail", team: "red", entry, fields });
  const template = `/api/templates/${made.json.id}`;
  const at = "/api/teams/red/installations";
  await send("POST", at, boss, { template: "mail", values: { "headers.X-Team": "of-the-team" } });
  const give = async () =>
    await send("PATCH", `${at}/mail/config/me`, bob, {
      values: { "headers.X-Key": "bobs-own-secret", "query.colour": "red" },
    });
  const isSet = async (): Promise<boolean[]> =>
    (await send("GET", `${at}/mail/config/me`, bob)).json.fields
      .filter(({ path }: { path: string }) => path !== "headers.X-Team")
      .map(({ set }: { set: boolean }) => set);
  expect([(await give()).status, await isSet()]).toEqual([200, [true, true]]);
  // Other fields, and the same address written anew, change nothing.
  const more = [...fields, { path: "headers.X-More" }];
  expect((await send("PATCH", template, boss, { entry: { ...entry, headers: { A: "b" } }, fields: more })).status).toBe(
    200,
  );
  expect(await isSet()).toEqual([true, true, false]);
  const shown = (await send("GET", `${at}/mail/config/me`, bob)).json.address;
  expect(shown).toBe(new URL(entry.url).origin);
  expect((await send("PATCH", template, boss, { entry: { url: "https://evil.example/mcp" } })).status).toBe(200);
  expect(await isSet()).toEqual([false, false, false]);
  // A form that was opened before says where it was told that its values go.
  for (const [whose, token, path] of [
    ["me", bob, "headers.X-Key"],
    ["team", boss, "headers.X-Team"],
  ] as const)
    for (const [address, status] of [
      [shown, 412],
      [null, 412],
      ["https://evil.example", 200],
    ] as const) {
      const late = await send("PATCH", `${at}/mail/config/${whose}`, token, {
        values: { [path]: "late-secret" },
        address,
      });
      expect([whose, address, late.status, late.json.code ?? ""]).toEqual([
        whose,
        address,
        status,
        status === 412 ? "REVISION_MISMATCH" : "",
      ]);
    }
  await send("PATCH", `${at}/mail/config/me`, bob, { values: { "headers.X-Key": null } });
  const { missing } = (await send("GET", `${at}/mail`, bob)).json;
  expect(missing).toEqual([{ path: "headers.X-Key", tier: "user" }]);
  // What the team gave is the team's to lead elsewhere.
  const ofTeam = (await send("GET", `${at}/mail/config/team`, boss)).json.fields;
  expect(ofTeam.find(({ path }: { path: string }) => path === "headers.X-Team")).toMatchObject({ set: true });
  await give();
  gateway.process.kill("SIGKILL");
  await gateway.stop();
  gateway = await start();
  expect(await isSet()).toEqual([true, true, false]);
  // Whoever runs the gateway moves a server for everybody.
  expect((await send("PATCH", template, ann, { entry: { url: "https://mail.example.org/mcp" } })).status).toBe(200);
  expect(await isSet()).toEqual([true, true, false]);
});

test("FAULT 91: of a server of the file, members and teams give what its entry names, and nothing else", async () => {
  const { bob } = await addThree();
  await ask("team", "members", "red", "--add", "cid", "--role", "admin");
  const boss = (await ask("token", "new", "--user", "cid", "--team", "red")).made.token;
  const at = "/api/teams/red/installations";
  expect((await send("POST", at, boss, { template: "file:own", slug: "mine" })).status).toBe(200);
  // Another folder to serve, another host to send the file's secrets to, another program.
  for (const values of [
    { args: ["/"] },
    { args: ["--eval=1"] },
    { "env.API_URL": "https://evil.example" },
    { "env.NODE_OPTIONS": "--require /tmp/x" },
    { "headers.Host": "evil.example" },
    { "query.key": "1" },
    { "args.0": "/" },
  ])
    for (const [who, path] of [
      [bob, "own/config/me"],
      [bob, "mine/config/me"],
      [boss, "mine/config/team"],
    ] as const) {
      const { status, json } = await send("PATCH", `${at}/${path}`, who, { values });
      expect([path, values, status, json.code]).toEqual([path, values, 422, "VALUE_REFUSED"]);
    }
  expect((await command(["config", "set", "own", "args=/", "--team", "red", "--user", "bob"])).stderr).toContain(
    "args",
  );
  // What the entry names is taken, also as further arguments; what it names no more counts for nothing.
  const wide = { ...own, optional: { user: ["env.CANARY", "args"] } };
  await gateway.stop();
  gateway = await start({ own: wide });
  const values = { "env.CANARY": "of-bob", args: ["--tools", "3"] };
  const given = await send("PATCH", `${at}/own/config/me`, bob, { values });
  expect(given.json.fields).toMatchObject([
    { path: "env.CANARY", type: "secret", required: false, set: true, value: null },
    { path: "args", set: true, value: ["--tools", "3"] },
  ]);
  await until(async () => (await textOf("own:argv", bob)).includes("--tools"));
  expect(await textOf("own:env", bob)).toContain("of-bob");
  await gateway.stop();
  gateway = await start({ own: { ...own, optional: {} } });
  const kept = await until(async () => {
    const text = await textOf("own:env", bob);
    return text.includes("PATH") && text + (await textOf("own:argv", bob));
  });
  expect([kept.includes("of-bob"), kept.includes("--tools")]).toEqual([false, false]);
});

test("a secret reaches the server and nothing else: no answer, log or file has it, and a rotation changes no value", async () => {
  // It is written in another way in a URL.
  const first = "s3cret of/the+red=team";
  const { bob } = await addThree();
  const ofGateway = join(directory, "of-gateway.json");
  await writeFile(ofGateway, JSON.stringify({ entry: { ...badServer(behaviours), env: { HOME_OF: "${HOME}" } } }));
  expect((await command(["template", "add", "curious", "--file", ofGateway])).stderr).toContain("HOME is not set");
  await addTemplate("mail", [], { ...badServer(behaviours), env: { CANARY: "Bearer ${secret:MAIL}" } });
  await ask("install", "mail", "--team", "red");
  expect((await serversOf(bob))[1]?.reason).toContain("PUT /api/teams/red/secrets/MAIL");
  await askWith(first, "secret", "set", "MAIL", "--team", "red");
  await until(async () => (await textOf("mail:env", bob)).includes(first));
  expect((await ask("secret", "list", "--team", "red")).secrets).toMatchObject([{ name: "MAIL", server: null }]);
  expect(await ask("key", "rotate", "--data")).toMatchObject({ rotated: { teams: 1, secrets: 1 } });
  gateway.process.kill("SIGKILL");
  await gateway.stop();
  gateway = await start();
  expect(await textOf("mail:env", bob)).toContain(first);
  await askWith("another-one-of-red", "secret", "set", "MAIL", "--team", "red");
  await until(async () => (await textOf("mail:env", bob)).includes("another-one-of-red"));
  const { code, stdout } = await command(["audit", "--json", "--limit", "1000"]);
  expect([code, ["secret.set", "key.rotate", "server.install"].every((action) => stdout.includes(action))]).toEqual([
    0,
    true,
  ]);
  await gateway.stop();
  const files = await readdir(join(directory, "data"), { recursive: true, withFileTypes: true });
  const all = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => await readFile(join(file.parentPath, file.name), "latin1")),
  );
  for (const text of [...all, gateway.stderr(), stdout])
    for (const secret of [first, "another-one-of-red"])
      for (const form of [
        secret,
        Buffer.from(secret).toString("hex"),
        Buffer.from(secret).toString("base64"),
        encodeURIComponent(secret),
      ])
        expect(text.includes(form)).toBe(false);
});

test("a member who is removed loses processes and values at once; one who comes back has none of them", async () => {
  const { bob } = await addThree();
  await addTemplate("mail", [{ path: "env.CANARY", type: "secret", required: true }]);
  await ask("install", "mail", "--team", "red");
  await ask("config", "set", "mail", "env.CANARY=bobs-own-secret", "--team", "red", "--user", "bob");
  await until(async () => (await textOf("mail:env", bob)).includes("bobs-own-secret"));
  expect(await processesWith("bobs-own-secret")).toBe(1);
  await ask("team", "members", "red", "--remove", "bob");
  await until(async () => (await processesWith("bobs-own-secret")) === 0);
  expect((await get(`${gateway.url}/api/servers`, bearer(bob))).status).toBe(401);
  await ask("team", "members", "red", "--add", "bob");
  const again = (await ask("token", "new", "--user", "bob", "--team", "red")).made.token;
  expect((await serversOf(again)).find(({ slug }) => slug === "mail")?.status).toBe("awaiting_user_config");
});

test("what was acknowledged is there after kill -9, and members give values for servers of the file, too", async () => {
  const { bob, cid } = await addThree();
  await addTemplate("mail", [{ path: "env.CANARY", tier: "team" }]);
  await ask("install", "mail", "--team", "blue", "--set", "env.CANARY=canary-of-blue", "--scope", "shared");
  await ask("config", "set", "own", "env.CANARY=bobs-for-own", "--team", "red", "--user", "bob");
  gateway.process.kill("SIGKILL");
  await gateway.stop();
  gateway = await start();
  expect(await textOf("mail:env", cid)).toContain("canary-of-blue");
  expect(await textOf("own:env", bob)).toContain("bobs-for-own");
  expect(await textOf("own:env", cid)).not.toContain("bobs-for-own");
  const dan = (await ask("user", "add", "dan", "--team", "blue")).made.token;
  const idOf = async (token: string): Promise<string | undefined> =>
    (await get(`${gateway.url}/api/servers`, bearer(token))).json.servers.find(
      ({ slug }: { slug: string }) => slug === "mail",
    )?.instance;
  expect([await idOf(dan), await idOf(cid)]).toEqual([
    expect.stringMatching(/^mail-blue-i_[0-9a-z]{26}$/),
    await idOf(dan),
  ]);
});
