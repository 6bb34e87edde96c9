import { appendFileSync, existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { onlyPlace } from "../harness/places.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
let gateway: RunningGateway;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-teams-"));
  gateway = await start();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const own = { ...badServer("--behaviours=canary,env,hang,in-flight"), scope: "user" };

async function start(env: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
  return await startGateway({
    directory,
    config: {
      mcpServers: { own },
      toolyard: { teams: { red: { servers: { own: { env: { CANARY: "of-red" } } } } } },
    },
    args: ["--team"],
    env,
  });
}

async function command(...words: string[]): Promise<CommandResult> {
  const where = ["--config", gateway.configFile, "--data-dir", join(directory, "data")];
  return await runCommand([...words, ...where]);
}

/** The answer of a command that must succeed. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function ask(...words: string[]): Promise<any> {
  const { code, stdout, stderr } = await command(...words, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const statusOf = async (token: string): Promise<number> =>
  (await get(`${gateway.url}/api/servers`, bearer(token))).status;

interface Three {
  readonly ann: string;
  readonly bob: string;
  readonly cid: string;
}

/** ann, an admin, and bob in red; cid in blue. */
async function addThree(): Promise<Three> {
  const ann = (await ask("user", "add", "ann", "--admin", "--team", "red")).made.token;
  await ask("team", "add", "blue");
  const bob = (await ask("user", "add", "bob", "--team", "red")).made.token;
  const cid = (await ask("user", "add", "cid", "--team", "blue")).made.token;
  return { ann, bob, cid };
}

async function connect(token: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers: bearer(token) } }),
  );
  return client;
}

async function callTool(client: Client, path: string): Promise<string> {
  return JSON.stringify(
    await client.callTool({ name: "execute_mcp_tool", arguments: { tool_path: path, arguments: {} } }),
  );
}

async function inFlight(client: Client): Promise<number> {
  return Number(/inFlight\W*(\d+)/.exec(await callTool(client, "own:in-flight"))?.[1]);
}

async function idsOf(token: string): Promise<string[]> {
  const { json } = await get(`${gateway.url}/api/instances`, bearer(token));
  return (json.instances as { id: string }[]).map(({ id }) => id);
}

test("nobody gets in before there is somebody, and the gateway says how to make the first admin", async () => {
  await until(() => gateway.stderr().includes("toolyard user link"));
  expect((await get(`${gateway.url}/api/servers`)).status).toBe(401);
  const { code, stdout, stderr } = await command("user", "add", "ann", "--admin", "--team", "red");
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ty_pat_[0-9a-f]{64}\n$/)]);
  expect(stderr).toContain("shown only now");
  expect(await statusOf(stdout.trim())).toBe(200);
});

test("two teams and three people: each has instances and calls of their own, and sees nothing of the others'", async () => {
  const { ann, bob, cid } = await addThree();
  const texts = await Promise.all(
    [ann, bob, cid].map(async (token) => {
      const client = await connect(token);
      const text = await callTool(client, "own:env");
      await client.close();
      return text;
    }),
  );
  // What the configuration sets for a team reaches the database's team of that name, and no other.
  expect(texts.map((text) => text.includes("of-red"))).toEqual([true, true, false]);
  const [bobs, cids] = [await idsOf(bob), await idsOf(cid)];
  expect([bobs.length, cids.length]).toEqual([1, 1]);
  expect(bobs[0]).toMatch(/^own-red-m_[0-9a-z]{26}-/);
  expect(cids[0]).toMatch(/^own-blue-m_[0-9a-z]{26}-/);
  const foreign = await get(`${gateway.url}/api/instances/${String(bobs[0])}`, bearer(cid));
  const nowhere = await get(`${gateway.url}/api/instances/own-red-nobody`, bearer(cid));
  expect([foreign.status, foreign.text]).toEqual([404, nowhere.text]);
  const callsOf = async (token: string): Promise<{ principal: string }[]> =>
    (await get(`${gateway.url}/api/calls`, bearer(token))).json.calls;
  await until(async () => (await callsOf(ann)).length === 3);
  const members = (await ask("team", "members", "blue")).members as { id: string }[];
  expect((await callsOf(cid)).map(({ principal }) => principal)).toEqual([members[0]?.id]);
});

test("a token that is revoked ends the call that runs with it, and its session", async () => {
  const { ann, bob } = await addThree();
  const [asAnn, asBob] = [await connect(ann), await connect(bob)];
  await callTool(asBob, "own:env");
  const before = await inFlight(asBob);
  const ended = callTool(asBob, "own:hang").then(
    (text) => text,
    (error: unknown) => String(error),
  );
  await until(async () => (await inFlight(asBob)) > before);
  const { tokens } = await ask("token", "list", "--user", "bob");
  await ask("token", "revoke", tokens[0].id);
  expect(await ended).toContain("the credential is no longer valid");
  expect(await statusOf(bob)).toBe(401);
  await expect(callTool(asBob, "own:env")).rejects.toThrow();
  expect(await callTool(asAnn, "own:env")).toContain("of-red");
  expect((await command("token", "revoke", tokens[0].id)).code).toBe(1);
  await asAnn.close();
});

test("a member who is removed loses every token of that team, and another team's goes on", async () => {
  const { bob } = await addThree();
  await ask("team", "members", "blue", "--add", "bob", "--role", "owner");
  const inBlue = (await ask("token", "new", "--user", "bob", "--team", "blue", "--days", "1")).made.token;
  expect((await command("token", "new", "--user", "bob")).stderr).toContain("several teams");
  expect((await run(gateway.url, "own:env", {}, bearer(bob))).text).toContain("of-red");
  expect((await run(gateway.url, "own:env", {}, bearer(inBlue))).text).not.toContain("of-red");
  await ask("team", "members", "red", "--remove", "bob");
  expect([await statusOf(bob), await statusOf(inBlue)]).toEqual([401, 200]);
  // Who comes back is a new member: nothing of before comes with them.
  await ask("team", "members", "red", "--add", "bob");
  expect(await statusOf(bob)).toBe(401);
});

test("the last admin stays, a disabled user is out until enabled again, and names are taken once", async () => {
  const { ann, bob } = await addThree();
  for (const words of [
    ["user", "disable", "ann"],
    ["team", "members", "red", "--remove", "ann"],
  ])
    expect(await command(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining("last admin") });
  await ask("user", "disable", "bob");
  expect([await statusOf(ann), await statusOf(bob)]).toEqual([200, 401]);
  expect((await command("token", "new", "--user", "bob")).stderr).toContain("disabled");
  await ask("user", "enable", "bob");
  expect(await statusOf(bob)).toBe(200);
  for (const words of [
    ["user", "add", "bob"],
    ["user", "add", "Bob"],
    ["team", "add", "red"],
    ["user", "disable", "nobody"],
    ["token", "new", "--user", "bob", "--days", "366"],
    ["user", "add", "dan", "--team", "red", "--role", "king"],
  ])
    expect([words, (await command(...words)).code]).toEqual([words, 1]);
  expect((await ask("user", "list")).users.map(({ name }: { name: string }) => name)).toEqual(["ann", "bob", "cid"]);
});

test("everything is there after a restart, also what was acknowledged just before kill -9", async () => {
  const { ann, cid } = await addThree();
  await ask("user", "disable", "bob");
  gateway.process.kill("SIGKILL");
  await gateway.stop();
  gateway = await start();
  expect((await ask("user", "list")).users).toMatchObject([
    { name: "ann", role: "admin", status: "active", teams: [{ team: "red" }] },
    { name: "bob", role: "user", status: "disabled", teams: [{ team: "red" }] },
    { name: "cid", role: "user", status: "active", teams: [{ team: "blue" }] },
  ]);
  expect([await statusOf(ann), await statusOf(cid)]).toEqual([200, 200]);
  await gateway.stop();
  gateway = await start();
  const { tokens } = await ask("token", "list", "--user", "cid");
  expect(tokens).toEqual([
    expect.objectContaining({ user: "cid", team: "blue", used: expect.stringMatching(/:00:00/) }),
  ]);
  const { stdout } = await command("audit", "--json", "--limit", "1000");
  const actions = stdout.split("\n").filter((line) => line !== "");
  for (const action of ["user.add", "team.add", "user.disable"])
    expect(actions.filter((line) => line.includes(`"${action}"`)).length).toBe(action === "user.add" ? 3 : 1);
  expect((await command("audit", "verify")).code).toBe(0);
});

test("tokens stand in no file of the data directory", async () => {
  const { ann, cid } = await addThree();
  await run(gateway.url, "own:env", {}, bearer(cid));
  await gateway.stop();
  const files = await readdir(join(directory, "data"), { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => await readFile(join(file.parentPath, file.name), "latin1")),
  );
  expect(texts.some((text) => text.includes("membership"))).toBe(true);
  for (const token of [ann, cid])
    for (const form of [token, token.slice(7), Buffer.from(token.slice(7), "hex").toString("latin1")])
      expect(texts.some((text) => text.includes(form))).toBe(false);
});

test("people that cannot be read let nobody in: the gateway does not start", async () => {
  await addThree();
  await gateway.stop();
  const place = onlyPlace(join(directory, "data"));
  for (const name of (await readdir(place)).filter((file) => file.startsWith("state.db")))
    await rm(join(place, name)).then(() => appendFileSync(join(place, name), "this is no database".repeat(1_000)));
  await expect(start()).rejects.toThrow(/ended at once[^]*the people cannot be read[^]*state\.db/);
});

test.each([
  [["--host", "0.0.0.0"], "--public-url https://"],
  [["--host", "0.0.0.0", "--public-url", "http://tools.example.com"], "--public-url https://"],
])("beyond this machine, %j is refused: a proxy with TLS has to be named", async (args, hint) => {
  const { code, stderr } = await runCommand([
    "serve",
    "--team",
    "--port",
    "0",
    "--data-dir",
    join(directory, "x"),
    ...args,
  ]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
});

test("without --team nothing of it is loaded, and with it, it is", async () => {
  const recorder = pathToFileURL(join(import.meta.dirname, "../harness/record-modules.mjs")).href;
  const isLoaded = async (args: readonly string[], name: string): Promise<boolean> => {
    const file = join(directory, name);
    const env = { NODE_OPTIONS: `--import ${recorder}`, LOADED_MODULES: file };
    await using other = await startGateway({ config: { mcpServers: { own } }, args, env });
    await get(`${other.url}/api/servers`);
    expect(existsSync(file)).toBe(true);
    return /\/team-people-\w+\.js$/m.test(await readFile(file, "utf8"));
  };
  expect([await isLoaded([], "without"), await isLoaded(["--team"], "with")]).toEqual([false, true]);
});
