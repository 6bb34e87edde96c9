import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, mainFile, startGateway } from "../harness/gateway.ts";
import { locksIn, placesIn } from "../harness/places.ts";
import { until } from "../harness/until.ts";
import { isAlive } from "../processes/survivors.ts";

let directory: string;
let dataDir: string;
const clients: Client[] = [];

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "toolyard-several-")));
  dataDir = join(directory, "data");
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  const running = locksIn(dataDir);
  for (const { pid } of running) process.kill(pid, "SIGTERM");
  await until(() => running.every(({ pid }) => !isAlive(pid)));
  await rm(directory, { recursive: true, force: true });
});

/** A project with one server of that name. */
async function project(name: string, server: object = badServer()): Promise<string> {
  const file = join(directory, name, "toolyard.json");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ mcpServers: { [name]: server } }));
  return file;
}

/** As a person does who looked at it. */
async function allow(path: string): Promise<void> {
  expect(await runCommand(["trust", path], { HOME: directory, XDG_DATA_HOME: "" })).toMatchObject({ code: 0 });
}

interface ClientOptions {
  readonly config?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stderr?: (text: string) => void;
}

/** A client of `toolyard stdio`; without a configuration that of its folder. */
async function connect({ config, cwd = directory, env = {}, stderr }: ClientOptions): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      ...[mainFile, "stdio", "--exposure", "flat", "--data-dir", dataDir],
      ...(config === undefined ? [] : ["--config", config]),
    ],
    cwd,
    env: { HOME: directory, PATH: process.env["PATH"] ?? "", ...env },
    stderr: stderr === undefined ? "inherit" : "pipe",
  });
  if (stderr !== undefined) transport.stderr?.on("data", (chunk: Buffer) => stderr(chunk.toString()));
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  clients.push(client);
  return client;
}

/** Names of the tools that a client is served, once there are any. */
async function toolsOf(client: Client): Promise<string[]> {
  return await until(async () => {
    const { tools } = await client.listTools();
    return tools.length > 0 && tools.map(({ name }) => name);
  });
}

async function textOf(client: Client, tool: string): Promise<string> {
  return await until(async () => {
    const result = (await client.callTool({ name: tool, arguments: {} })) as {
      isError?: boolean;
      content: { text: string }[];
    };
    return result.isError !== true && result.content[0]?.text;
  });
}

const gatewayOf = (file: string): number | undefined =>
  locksIn(dataDir).find(({ serves }) => serves.configFile === file)?.pid;

const commandIn = async (...args: string[]) =>
  await runCommand([...args, "--data-dir", dataDir], { HOME: directory, XDG_CONFIG_HOME: directory });

describe("another file is another gateway", () => {
  test("two files that start together get one gateway each, and three clients of one file share it", async () => {
    const [a, b] = [await project("a"), await project("b")];
    const started = await Promise.all([a, b, a, b, a].map(async (config) => await connect({ config })));
    const seen = await Promise.all(started.map(toolsOf));
    for (const index of [0, 2, 4]) expect(seen[index]?.every((name) => name.startsWith("a-"))).toBe(true);
    for (const index of [1, 3]) expect(seen[index]?.every((name) => name.startsWith("b-"))).toBe(true);
    expect(locksIn(dataDir).map(({ serves }) => serves.configFile)).toEqual(expect.arrayContaining([a, b]));
    expect(locksIn(dataDir)).toHaveLength(2);
    expect(
      new Set(await Promise.all([0, 2, 4].map(async (at) => await textOf(started[at] as Client, "a-pid")))).size,
    ).toBe(1);
  });

  test("`serve` is shared by clients of its file only", async () => {
    await using gateway = await startGateway({ config: { mcpServers: { a: badServer() } }, directory });
    const b = await project("b");
    const other = await connect({ config: b });
    expect((await toolsOf(other)).every((name) => name.startsWith("b-"))).toBe(true);
    const own = await connect({ config: gateway.configFile });
    expect((await toolsOf(own)).every((name) => name.startsWith("a-"))).toBe(true);
    expect(gatewayOf(gateway.configFile)).toBe(gateway.process.pid);
    expect(locksIn(dataDir)).toHaveLength(2);
  });

  test("who has no file is served nobody else's", async () => {
    await toolsOf(await connect({ config: await project("a") }));
    const without = await connect({});
    expect((await without.listTools()).tools).toEqual([]);
    expect(locksIn(dataDir).map(({ serves }) => serves.configFile)).toContain(null);
  });

  test("the folder of a gateway says which configuration it is of", async () => {
    const a = await project("a");
    await connect({ config: a });
    const [place] = placesIn(dataDir);
    expect(JSON.parse(readFileSync(join(place ?? "", "gateway.json"), "utf8"))).toEqual({
      configFile: a,
      directory: dirname(a),
    });
  });
});

describe("the same file, by whatever name", () => {
  test("a link in the same folder is the same", async () => {
    const a = await project("a");
    await symlink(a, join(dirname(a), "linked.json"));
    const first = await textOf(await connect({ config: a }), "a-pid");
    expect(await textOf(await connect({ config: join(dirname(a), "linked.json") }), "a-pid")).toBe(first);
    expect(locksIn(dataDir)).toHaveLength(1);
  });

  test("a link in another folder starts servers there, and so is another gateway", async () => {
    const a = await project("a");
    await mkdir(join(directory, "b"));
    await symlink(a, join(directory, "b", "toolyard.json"));
    await allow(join(directory, "b"));
    const first = await textOf(await connect({ config: a }), "a-pid");
    expect(await textOf(await connect({ cwd: join(directory, "b") }), "a-pid")).not.toBe(first);
    expect(locksIn(dataDir)).toHaveLength(2);
  });

  test("a gateway whose link leads elsewhere now is that other file's", async () => {
    const [a, b] = [await project("a"), await project("b")];
    const link = join(directory, "link.json");
    await symlink(a, link);
    const follower = await connect({ config: link });
    expect(await toolsOf(follower)).toContain("a-pid");
    await symlink(b, `${link}.new`);
    await rename(`${link}.new`, link);
    await until(async () => (await toolsOf(follower)).includes("b-pid"));
    const direct = await connect({ config: a });
    expect((await toolsOf(direct)).every((name) => name.startsWith("a-"))).toBe(true);
  });

  test("a file that is found before it later does not take a running gateway over", async () => {
    const folder = join(directory, "home");
    await mkdir(folder);
    const found = join(folder, "mcp.json");
    await writeFile(found, JSON.stringify({ mcpServers: { a: badServer() } }));
    await allow(found);
    const client = await connect({ cwd: folder });
    expect(await toolsOf(client)).toContain("a-pid");
    await writeFile(join(folder, "toolyard.json"), JSON.stringify({ mcpServers: { b: badServer() } }));
    // A change of its own file, which it does see, comes after.
    await writeFile(found, JSON.stringify({ mcpServers: { a: badServer(), c: badServer() } }));
    await allow(found);
    expect(await until(async () => (await toolsOf(client)).includes("c-pid") && (await toolsOf(client)))).not.toContain(
      "b-pid",
    );
    await allow(folder);
    expect(await toolsOf(await connect({ cwd: folder }))).toContain("b-pid");
  });
});

describe("what the file refers to belongs to it", () => {
  const withToken = (): object => ({ ...badServer(), env: { TOKEN: "${PROJECT_TOKEN:-none}" } });

  test("clients with other values of its variables get other gateways, and are told which variables", async () => {
    const a = await project("a", withToken());
    let said = "";
    const one = await connect({ config: a, env: { PROJECT_TOKEN: "first-secret" } });
    expect(await textOf(one, "a-env")).toContain("first-secret");
    const two = await connect({ config: a, env: { PROJECT_TOKEN: "second-secret" }, stderr: (text) => (said += text) });
    expect(await textOf(two, "a-env")).toContain("second-secret");
    const unset = await connect({ config: a });
    expect(await textOf(unset, "a-env")).toContain('"TOKEN":"none"');
    await until(() => said.includes("with other values of PROJECT_TOKEN"));
    expect(said).not.toMatch(/first-secret|second-secret/);
    const again = await connect({ config: a, env: { PROJECT_TOKEN: "first-secret", UNRELATED: "x" } });
    expect(await textOf(again, "a-pid")).toBe(await textOf(one, "a-pid"));
    expect(locksIn(dataDir)).toHaveLength(3);
    for (const { folder } of locksIn(dataDir))
      expect(readFileSync(join(folder, "gateway.lock"), "utf8")).not.toMatch(/first-secret|second-secret/);
  });

  test("a file that comes to refer to another variable is still shared", async () => {
    const a = await project("a");
    const env = { PROJECT_TOKEN: "a-secret" };
    const before = await connect({ config: a, env });
    await toolsOf(before);
    await project("a", withToken());
    const after = await connect({ config: a, env });
    expect(await textOf(after, "a-env")).toContain("a-secret");
    expect(locksIn(dataDir)).toHaveLength(1);
  });

  test("so does the key to the logins", async () => {
    const a = await project("a");
    await connect({ config: a });
    await connect({ config: a, env: { TOOLYARD_KEY: "correct horse" } });
    expect(locksIn(dataDir)).toHaveLength(2);
  });
});

describe("commands find the gateway that is meant", () => {
  test("by its configuration; without one they say what runs", async () => {
    const [a, b, c] = [await project("a"), await project("b"), await project("c")];
    await toolsOf(await connect({ config: a }));
    await toolsOf(await connect({ config: b }));
    const [pidA, pidB] = [gatewayOf(a), gatewayOf(b)];
    expect((await commandIn("status", "--config", a)).stdout).toMatch(
      new RegExp(`^gateway \\S+ \\(process ${pidA}\\)\\n(?:  .*\\n){2}  a `),
    );
    expect((await commandIn("status", "--config", b)).stdout).toMatch(
      new RegExp(`^gateway \\S+ \\(process ${pidB}\\)\\n(?:  .*\\n){2}  b `),
    );
    const all = (await commandIn("status")).stdout;
    expect(all).toMatch(new RegExp(`\\(process ${pidA}\\) ${a}\\n(?:  .*\\n){2}  a `));
    expect(all).toMatch(new RegExp(`\\(process ${pidB}\\) ${b}\\n(?:  .*\\n){2}  b `));
    for (const command of [["stop"], ["restart", "a"]]) {
      const unclear = await commandIn(...command);
      expect(unclear).toMatchObject({ code: 1, stdout: "" });
      expect(unclear.stderr).toContain(`configured by ${a}`);
      expect(unclear.stderr).toContain(`configured by ${b}`);
    }
    const none = await commandIn("stop", "--config", c);
    expect(none.code).toBe(1);
    expect(none.stderr).toContain(`no gateway runs with ${c}`);
    expect((await commandIn("restart", "b", "--config", b)).code).toBe(0);
    expect((await commandIn("stop", "--config", b)).code).toBe(0);
    await until(() => pidB !== undefined && !isAlive(pidB));
    expect(pidA !== undefined && isAlive(pidA)).toBe(true);
    expect((await commandIn("stop")).code).toBe(0);
    await until(() => locksIn(dataDir).length === 0);
  });
});

test("what an earlier version kept in the data directory itself is used; tokens of instances go to one gateway only", async () => {
  await mkdir(join(dataDir, "catalog"), { recursive: true });
  await writeFile(join(dataDir, "catalog", "x.json"), "{}");
  await writeFile(join(dataDir, "learned.json"), '{"version":1,"tools":[]}');
  await writeFile(join(dataDir, "instance-tokens.json"), '{"format":2,"tokens":[]}');
  await connect({ config: await project("a") });
  await connect({ config: await project("b") });
  const kept = await Promise.all(placesIn(dataDir).map(async (place) => await readdir(place)));
  expect(kept).toHaveLength(2);
  for (const names of kept) expect(names).toEqual(expect.arrayContaining(["catalog", "learned.json"]));
  expect(kept.filter((names) => names.includes("instance-tokens.json"))).toHaveLength(1);
  expect(await readdir(dataDir)).not.toContain("instance-tokens.json");
});
