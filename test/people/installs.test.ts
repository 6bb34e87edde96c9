import { mkdtemp, rm, writeFile } from "node:fs/promises";
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
const own = { ...badServer(behaviours), scope: "user" };

async function start(env: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
  return await startGateway({ directory, config: { mcpServers: { own } }, args: ["--team"], env });
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
  expect(mail?.reason).toContain("env.CANARY has to come from you: PATCH /api/teams/red/installations/mail/config/me");
  expect((await run(gateway.url, "mail:env", {}, bearer(bob))).status).toBeGreaterThanOrEqual(400);
  await askWith("bobs-secret-value\n", "config", "set", "mail", "env.CANARY=-", "--team", "red", "--user", "bob");
  await until(async () => (await textOf("mail:env", bob)).includes("bobs-secret-value"));
  const { values } = await ask("config", "get", "mail", "--team", "red", "--user", "bob");
  expect(values.fields).toMatchObject([{ path: "env.CANARY", set: true, value: null, type: "secret" }]);
  // Nobody else's: ann has none yet.
  expect(JSON.stringify(await ask("config", "get", "mail", "--team", "red"))).not.toContain("bobs-secret-value");
});
