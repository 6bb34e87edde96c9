import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { badServer } from "../harness/gateway.ts";
import { get, run } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../oauth/authorization-server.ts";
import { clickThrough } from "../oauth/browser.ts";
import { runCommand } from "../oauth/login-command.ts";
import { startProtectedServer, type ProtectedServer } from "../oauth/mcp-server.ts";
import type { PageBrowser, SeenPage } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let authorization: AuthorizationServer;
let server: ProtectedServer;
let world: TeamWorld;
let ann: PageBrowser;
let bob: PageBrowser;
let tokens: Readonly<Record<"ann" | "bob", string>>;

beforeAll(async () => {
  let url = "";
  authorization = await startAuthorizationServer({ resource: () => url });
  server = await startProtectedServer({
    issuer: () => authorization.issuer,
    accepts: async (token, resource) => (await authorization.audienceOf(token)) === resource,
  });
  ({ url } = server);
  world = await startTeamWorld({
    port: await freePort(),
    servers: {
      vault: { type: "http", url, scope: "user" },
      common: { type: "http", url, scope: "shared" },
      own: { ...badServer("--behaviours=env"), scope: "user" },
    },
  });
  const add = async (...words: string[]): Promise<string> => (await world.ask("user", "add", ...words)).made.token;
  tokens = { ann: await add("ann", "--admin", "--team", "red"), bob: await add("bob", "--team", "red") };
  ann = await world.logIn("ann");
  bob = await world.logIn("bob");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

const bearer = (who: keyof typeof tokens): Record<string, string> => ({ authorization: `Bearer ${tokens[who]}` });

interface Standing {
  readonly instance: string;
  readonly status: string;
}

async function standingOf(who: keyof typeof tokens, slug: string): Promise<Standing | undefined> {
  const { instances } = (await get(`${world.url}/api/instances`, bearer(who))).json;
  const found = (instances as { id: string; server: string; status: string }[]).find((one) => one.server === slug);
  return found && { instance: found.id, status: found.status };
}

async function pageOf(who: keyof typeof tokens, slug: string): Promise<string> {
  return `${world.url}/connect/${encodeURIComponent((await standingOf(who, slug))?.instance ?? "")}`;
}

interface AuditLine {
  readonly action: string;
  readonly object: string;
  readonly actor: string;
  readonly outcome: string;
}

async function audit(): Promise<readonly AuditLine[]> {
  const { stdout } = await world.command("audit", "--limit", "100", "--json");
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditLine);
}

/** From the page to the authorization server and back, to where the browser is sent with the answer. */
async function authorizationOf(browser: PageBrowser, page: SeenPage, fields = {}): Promise<string> {
  const shown = await browser.submit(page, fields, 'value="login"');
  const address = /<a class="button" rel="noreferrer" href="([^"]+)"/.exec(shown.text)?.[1]?.replaceAll("&#38;", "&");
  if (address === undefined) throw new Error(shown.text);
  return (await clickThrough(address, { stopAt: `${world.url}/` })).url;
}

test("a server that wants a login names the page where its person logs in, and is used with that login", async () => {
  const wanted = await until(async () => {
    const told = await rpc(
      `${world.url}/mcp`,
      "tools/call",
      { name: "discover_mcp_tools", arguments: { query: "headers", server: "vault" } },
      bearer("bob"),
    );
    const [line] = JSON.parse(told.json.result.content[0].text).unavailable ?? [];
    return line?.status === "requires_reauth" && (line as { action: string });
  });
  const address = await pageOf("bob", "vault");
  expect(wanted.action).toBe(`Ask the user to log in at ${address} in a browser.`);
  const called = await run(world.url, "vault:headers", {}, bearer("bob"));
  expect(called.json).toMatchObject({ code: "SERVER_NEEDS_LOGIN", hint: expect.stringContaining(address) as string });

  const page = await bob.open(address);
  expect(page.text).toContain("It runs for you alone.");
  expect(page.text).toContain("Nobody is logged in.");
  const callback = await authorizationOf(bob, page);
  const back = await bob.open(callback);
  expect([back.url, back.text.includes("You are logged in.")]).toEqual([address, true]);
  const answer = await until(async () => {
    const { status, json } = await run(world.url, "vault:headers", {}, bearer("bob"));
    return status === 200 && json;
  });
  expect(JSON.stringify(answer)).toContain("authorization");
  // It is bob's: ann's is another instance, without any login.
  await until(async () => (await standingOf("ann", "vault"))?.status === "requires_reauth");
  // The answer is good once.
  expect((await bob.open(callback)).status).toBe(403);
  await until(async () =>
    (await audit()).some(({ action, object }) => /login/.test(action) && object.startsWith("vault")),
  );

  const out = await bob.submit(await bob.open(address), {}, 'value="logout"');
  expect(out.text).toContain("Nobody is logged in.");
  await until(async () => (await run(world.url, "vault:headers", {}, bearer("bob"))).status !== 200);
});

test("FAULT 97: the page of somebody else's server is nobody's, and an answer that another browser brings is not used", async () => {
  const address = await pageOf("bob", "vault");
  const asAnn = await ann.open(address);
  expect([asAnn.status, asAnn.text.includes("this is no server of yours")]).toEqual([403, true]);
  const nowhere = await ann.open(`${world.url}/connect/vault-red-nobody`);
  expect(nowhere.text).toBe(asAnn.text);
  await until(async () =>
    (await audit()).some(
      ({ action, actor, outcome }) => action === "connect" && actor === "ann" && outcome === "denied",
    ),
  );
  // ann is led to finish what bob began, and bob what ann began.
  const callback = await authorizationOf(bob, await bob.open(address));
  expect((await ann.open(callback)).status).toBe(403);
  expect((await bob.open(callback)).status).toBe(403);
  expect((await bob.open(address)).text).toContain("Nobody is logged in.");
  // Without a session nothing comes back, and the page asks for a login that leads there.
  const bare = await fetch(callback, { redirect: "manual" });
  expect(bare.status).toBe(403);
  const asked = await fetch(address, { redirect: "manual" });
  expect(asked.headers.get("location")).toBe(
    `${world.url}/auth/login?next=${encodeURIComponent(new URL(address).pathname)}`,
  );
});

test("who declines, or whose server cannot be logged in at, is told why, and nothing is kept", async () => {
  const address = await pageOf("ann", "vault");
  const shown = await ann.submit(await ann.open(address), {}, 'value="login"');
  const start = /rel="noreferrer" href="([^"]+)"/.exec(shown.text)?.[1]?.replaceAll("&#38;", "&") ?? "";
  const state = new URL(start).searchParams.get("state") ?? "";
  const query = new URLSearchParams({ state, error: "access_denied", iss: authorization.issuer });
  const back = await ann.open(`${world.url}/connect/callback?${query.toString()}`);
  expect(back.text).toContain("The authorization server refused: access_denied");
  expect(back.text).toContain("Nobody is logged in.");
  // From another authorization server than the one that was asked.
  const again = await ann.submit(await ann.open(address), {}, 'value="login"');
  const other = new URL(/rel="noreferrer" href="([^"]+)"/.exec(again.text)?.[1]?.replaceAll("&#38;", "&") ?? "");
  const mixed = new URLSearchParams({
    state: other.searchParams.get("state") ?? "",
    code: "x",
    iss: "https://evil.example",
  });
  expect((await ann.open(`${world.url}/connect/callback?${mixed.toString()}`)).text).toContain("it was not used");
});

test("an admin who is taken out of the team before the shared login comes back does not finish it", async () => {
  await world.ask("user", "add", "cleo", "--admin", "--team", "red");
  const cleo = await world.logIn("cleo");
  const address = await pageOf("bob", "common");
  const callback = await authorizationOf(cleo, await cleo.open(address), { everybody: "yes" });
  await world.ask("team", "members", "red", "--remove", "cleo");
  expect((await cleo.open(callback)).status).toBe(403);
  expect((await bob.open(address)).text).toContain("Nobody is logged in.");
});

test("a shared login is made by an admin alone, who says so, and everybody sees that it is shared", async () => {
  const address = await pageOf("bob", "common");
  const asBob = await bob.open(address);
  expect(asBob.text).toContain("It is shared: everybody in the team uses the same one.");
  expect(asBob.text).toContain("An admin of the team logs in for everybody.");
  expect(asBob.text).not.toContain('value="login"');
  const asAnn = await ann.open(address);
  expect((await ann.submit(asAnn, {}, 'value="login"')).text).toContain("Say that everybody may use this login");
  // The same form, sent by bob.
  const own = await bob.open(await pageOf("bob", "vault"));
  const forged = await bob.submit(
    { ...own, text: own.text.replaceAll(new URL(own.url).pathname, new URL(address).pathname) },
    {},
    'value="login"',
  );
  expect(forged.text).toContain("Only an admin logs in for everybody");
  await ann.open(await authorizationOf(ann, asAnn, { everybody: "yes" }));
  expect((await bob.open(address)).text).toContain("Somebody is logged in for everybody.");
  await until(async () => (await run(world.url, "common:headers", {}, bearer("bob"))).status === 200);
});

test("values of one's own are given on the page: secrets are written, and never shown", async () => {
  const file = join(world.directory, "mail.json");
  const fields = [
    { path: "env.CANARY", type: "secret", required: true, description: "Your key at <the> mail service" },
    { path: "env.REGION", type: "enum", enum: ["eu", "us"] },
    { path: "env.LOCKED", tier: "team", type: "string" },
  ];
  await writeFile(file, JSON.stringify({ entry: badServer("--behaviours=canary,env"), fields }));
  await world.ask("template", "add", "mail", "--file", file);
  await world.ask("install", "mail", "--team", "red");
  const address = await pageOf("bob", "mail");
  expect((await standingOf("bob", "mail"))?.status).toBe("awaiting_user_config");
  const account = await bob.open(`${world.url}/account`);
  expect(account.text).toContain(`href="${new URL(address).pathname}"`);
  const page = await bob.open(address);
  expect(page.text).toContain("env.CANARY (required)");
  expect(page.text).toContain("Your key at &#60;the&#62; mail service");
  expect(page.text).not.toContain("env.LOCKED");
  const refused = await bob.submit(page, { "v:env.CANARY": "bobs-own-key", "v:env.REGION": "mars" }, 'value="values"');
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.text).toContain('role="alert"');
  // What is given is for the address that the page showed.
  const moved = await bob.submit(page, { address: "https://before.example", "v:env.REGION": "eu" }, 'value="values"');
  expect([moved.status, moved.text.includes("server leads to another address now")]).toEqual([412, true]);
  const saved = await bob.submit(page, { "v:env.CANARY": "bobs-own-key", "v:env.REGION": "eu" }, 'value="values"');
  expect(saved.text).toContain("It is set; empty leaves it as it is.");
  expect(saved.text).not.toContain("bobs-own-key");
  await until(async () => (await run(world.url, "mail:env", {}, bearer("bob"))).text.includes("bobs-own-key"));
  // Sent again, empty: what is set stays; what is taken away is gone.
  const kept = await bob.submit(saved, { "v:env.CANARY": "", "v:env.REGION": "" }, 'value="values"');
  expect(kept.text).toContain("It is set");
  await bob.submit(kept, { "off:env.CANARY": "yes" }, 'value="values"');
  expect((await standingOf("bob", "mail"))?.status).toBe("awaiting_user_config");
});

interface Told {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  readonly json: any;
}

async function send(who: keyof typeof tokens, method: string, path: string): Promise<Told> {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { ...bearer(who), ...(method === "GET" ? {} : { "content-type": "application/json" }) },
  });
  return { status: response.status, json: await response.json() };
}

const instancePath = async (who: keyof typeof tokens, slug: string): Promise<string> =>
  `/api/instances/${encodeURIComponent((await standingOf(who, slug))?.instance ?? "")}`;

/** The statuses of a stream that ends by itself. */
async function statusesOf(who: keyof typeof tokens, path: string, until: string): Promise<readonly string[]> {
  const response = await fetch(`${world.url}${path}/status?until=${until}`, { headers: bearer(who) });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const text = await response.text();
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => (JSON.parse(data) as { status: string }).status);
}

test("FAULT 97: REST names the page where a person logs in, and takes a login away: each person's own", async () => {
  const path = await instancePath("bob", "vault");
  await until(async () => (await standingOf("bob", "vault"))?.status === "requires_reauth");
  const begun = await send("bob", "POST", `${path}/connect`);
  expect(begun).toMatchObject({
    status: 200,
    json: { url: await pageOf("bob", "vault"), status: "requires_reauth", hasLogin: false },
  });
  expect((await send("bob", "GET", `${path}/login`)).json).toMatchObject({
    ...{ takesLogin: true, hasLogin: false, isShared: false, mayLogIn: true },
    url: begun.json.url,
  });
  expect((await send("bob", "DELETE", `${path}/login`)).status).toBe(409);
  // To an admin of the gateway, too, it is not there: nobody logs in for somebody else.
  for (const [method, end] of [
    ["POST", "connect"],
    ["GET", "login"],
    ["DELETE", "login"],
  ] as const)
    expect(await send("ann", method, `${path}/${end}`)).toMatchObject({
      status: 404,
      json: { code: "SERVER_UNKNOWN" },
    });
  const statuses = statusesOf("bob", path, "online");
  await bob.open(await authorizationOf(bob, await bob.open(begun.json.url)));
  const seen = await statuses;
  expect([seen[0], seen.at(-1)]).toEqual(["requires_reauth", "online"]);
  expect((await send("bob", "GET", `${path}/login`)).json).toMatchObject({ hasLogin: true });
  expect((await run(world.url, "vault:headers", {}, bearer("bob"))).status).toBe(200);
  expect((await send("bob", "DELETE", `${path}/login`)).json).toEqual({ done: true });
  await until(async () => (await run(world.url, "vault:headers", {}, bearer("bob"))).status !== 200);
  const actions = (await audit()).map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(["server.connect.begin", "server.connect", "server.disconnect"]));
});

test("from a terminal elsewhere a person logs in at a server behind the gateway, and out again", async () => {
  const home = await mkdtemp(join(tmpdir(), "toolyard-elsewhere-"));
  try {
    const entering = runCommand(home, ["login", world.url]);
    await bob.submit(await bob.open(await entering.address()), { answer: "allow" }, 'name="answer"');
    expect(await entering.ended, entering.stderr()).toBe(0);
    const command = runCommand(home, ["login", "vault", "--gateway", world.url]);
    const address = await command.address();
    expect(address).toBe(await pageOf("bob", "vault"));
    await bob.open(await authorizationOf(bob, await bob.open(address)));
    expect([await command.ended, command.stdout()]).toEqual([0, "logged in to vault\n"]);
    await until(async () => (await run(world.url, "vault:headers", {}, bearer("bob"))).status === 200);
    const ended = async (...words: string[]) => {
      const { ended: code, ...said } = runCommand(home, [...words, "--gateway", world.url]);
      return [await code, said.stdout(), said.stderr()];
    };
    expect(await ended("login", "vault")).toEqual([0, "logged in to vault already\n", ""]);
    expect(await ended("logout", "vault")).toEqual([0, "logged out of vault\n", ""]);
    expect(await ended("logout", "vault")).toEqual([0, "no one was logged in to vault\n", ""]);
    await until(async () => (await run(world.url, "vault:headers", {}, bearer("bob"))).status !== 200);
    // What is no server of one's own, or takes no login.
    expect(await ended("login", "nothing")).toEqual([
      1,
      "",
      expect.stringContaining("you have no server nothing there"),
    ]);
    expect(await ended("login", "own")).toEqual([1, "", expect.stringContaining("own takes no login")]);
    expect(await ended("login", "vault", "--device")).toEqual([2, "", expect.stringContaining("without --device")]);
    const given = runCommand(home, ["login", "vault", "--gateway", world.url]);
    await given.address();
    given.interrupt();
    expect([await given.ended, given.stderr()]).toEqual([1, expect.stringContaining("interrupted")]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test("a login that all share is an admin's to begin and to take away", async () => {
  const path = await instancePath("bob", "common");
  expect((await send("bob", "GET", `${path}/login`)).json).toMatchObject({ isShared: true, mayLogIn: false });
  expect((await send("bob", "POST", `${path}/connect`)).json.code).toBe("FORBIDDEN");
  expect((await send("bob", "DELETE", `${path}/login`)).json.code).toBe("FORBIDDEN");
  expect((await send("ann", "POST", `${path}/connect`)).status).toBe(200);
});

test("the status of one instance is followed until it has a status, and admins see those of members", async () => {
  const path = await instancePath("bob", "own");
  expect((await statusesOf("bob", path, "online")).at(-1)).toBe("online");
  expect((await statusesOf("ann", path, "online")).at(-1)).toBe("online");
  const unknown = await send("bob", "GET", `${path}/status?until=fine`);
  expect([unknown.status, unknown.json.code]).toEqual([400, "PARAMS_INVALID"]);
  expect((await send("bob", "GET", "/api/instances/nothing/status")).status).toBe(404);
  // Of what is stopped by hand, it is told at once.
  const stopping = statusesOf("ann", path, "disabled");
  expect((await send("bob", "POST", `${path}/stop`)).status).toBe(200);
  expect((await stopping).at(-1)).toBe("disabled");
  const restarting = statusesOf("bob", path, "online");
  expect((await send("ann", "POST", `${path}/restart`)).status).toBe(200);
  expect((await restarting).at(-1)).toBe("online");
});

test("FAULT 102: whoever follows a status and loses access hears nothing more", async () => {
  const path = await instancePath("bob", "own");
  const extra = (await world.ask("token", "new", "--user", "bob", "--team", "red")).made as {
    id: string;
    token: string;
  };
  const stream = await fetch(`${world.url}${path}/status`, { headers: { authorization: `Bearer ${extra.token}` } });
  const ended = stream.text();
  await world.ask("token", "revoke", extra.id);
  expect(await ended).toContain("event: status");
});

/** An app that calls as bob does, with the official SDK. */
async function connectApp(): Promise<Client> {
  const client = new Client({ name: "an app", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.url}/mcp/flat`), { requestInit: { headers: bearer("bob") } }),
  );
  return client;
}

test("FAULT 97: the SDK's client is told where its person logs in, and goes on in the same session after that", async () => {
  const address = await pageOf("bob", "vault");
  await using app = await asDisposable(await connectApp());
  const refused = await app.client.callTool({ name: "vault-headers", arguments: {} }).catch((error: unknown) => error);
  const [told = ""] =
    new RegExp(`${world.url}/connect/[\\w.%-]+`).exec(JSON.stringify([refused, String(refused)])) ?? [];
  expect(told).toBe(address);
  // What the app was told is of use to bob alone, wherever it is opened.
  const asAnn = await ann.open(told);
  expect([asAnn.status, asAnn.text.includes("this is no server of yours")]).toEqual([403, true]);
  expect(asAnn.text).not.toContain('value="login"');
  expect((await fetch(told, { redirect: "manual", headers: bearer("ann") })).status).not.toBe(200);
  const page = await bob.open(told);
  expect([page.status, page.text.includes("Nobody is logged in.")]).toEqual([200, true]);
  const back = await bob.open(await authorizationOf(bob, page));
  expect([back.url, back.text.includes("You are logged in.")]).toEqual([told, true]);
  const answer = await until(async () => {
    const called = await app.client.callTool({ name: "vault-headers", arguments: {} }).catch(() => undefined);
    return called !== undefined && called.isError !== true && called;
  });
  expect(JSON.stringify(answer)).toContain("authorization");
});

async function asDisposable(client: Client): Promise<AsyncDisposable & { readonly client: Client }> {
  return { client, [Symbol.asyncDispose]: async () => await client.close() };
}
