import { chmod, mkdtemp, rename, rm, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { discover, standingOf, startsIn } from "./observing.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-reload-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const pidFile = (server: string): string => join(directory, `${server}.pids`);
const server = (name: string, ...flags: string[]): object =>
  badServer("--tools", "2", "--write-pid", pidFile(name), ...flags);
const config = (servers: object, toolyard: object = {}): string => JSON.stringify({ mcpServers: servers, toolyard });

async function serversOf(gateway: RunningGateway): Promise<string> {
  const answer = await discover(gateway.url, { query: "" });
  return answer.servers.map((entry: { server: string; tools: number }) => `${entry.server}:${entry.tools}`).join(" ");
}

test("only what changed is touched: added, changed, removed, and what does not reach the server without a restart", async () => {
  await using gateway = await startGateway({
    config: config({ a: server("a"), b: server("b"), c: server("c") }),
    directory,
  });
  await until(async () => (await serversOf(gateway)) === "a:2 b:2 c:2");
  const a = { ...server("a"), displayName: "Better", tools: { rename: { "tool-1": "first" } } };
  await writeFile(gateway.configFile, config({ a, b: server("b", "--tool-name", "new"), d: server("d") }));
  await until(async () => (await serversOf(gateway)) === "a:2 b:3 d:2");
  expect((await execute(gateway.url, "a:first")).structuredContent).toMatchObject({
    tool: "tool-1",
    pid: startsIn(pidFile("a"))[0],
  });
  expect(["a", "b", "c", "d"].map((name) => startsIn(pidFile(name)).length)).toEqual([1, 2, 1, 1]);
  expect((await execute(gateway.url, "c:tool-1")).isError).toBe(true);
  await writeFile(gateway.configFile, config({ a: { ...a, tools: { deny: ["tool-2"] } } }));
  await until(async () => (await serversOf(gateway)) === "a:1");
  expect(startsIn(pidFile("a"))).toHaveLength(1);
});

test("a name under tools that no tool has is warned of, at the start and after a change", async () => {
  const rules = {
    allow: ["tool-*", "mail-*"],
    deny: ["nobody"],
    rename: { "tool-*": "x" },
    describe: { "tool-1": "y" },
  };
  await using gateway = await startGateway({ config: config({ a: { ...server("a"), tools: rules } }), directory });
  await until(async () => (await serversOf(gateway)) === "a:2");
  const warned = (): string[] =>
    gateway
      .stderr()
      .split("\n")
      .flatMap((line) => /"msg":"a: (tools\.\w+: .*) is the name of none/.exec(line)?.[1]?.replaceAll("\\", "") ?? []);
  await until(() => warned().length >= 3);
  expect(warned()).toEqual(['tools.allow: "mail-*"', 'tools.deny: "nobody"', 'tools.rename: "tool-*"']);
  await writeFile(gateway.configFile, config({ a: { ...server("a"), tools: { deny: ["tol-1"] } } }));
  await until(() => warned().at(-1) === 'tools.deny: "tol-1"');
  expect(warned()).toHaveLength(4);
});

test("a changed exposure is served at once", async () => {
  await using gateway = await startGateway({ config: config({ a: server("a") }), directory });
  await until(async () => (await serversOf(gateway)) === "a:2");
  await writeFile(gateway.configFile, config({ a: server("a") }, { exposure: "flat" }));
  await until(async () => (await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools.length === 2);
});

test("what takes effect at the next start is named, and until then the old value holds, over MCP and REST", async () => {
  const limits = { requestBodyBytes: 2_000, concurrentCalls: 5 };
  await using gateway = await startGateway({ config: config({ a: server("a") }, { limits }), directory });
  await until(async () => (await serversOf(gateway)) === "a:2");
  const next = {
    exposure: "flat",
    limits: { requestBodyBytes: 100_000, concurrentCalls: 50 },
    search: { learn: false },
  };
  await writeFile(gateway.configFile, config({ a: server("a") }, next));
  await until(() => gateway.stderr().includes("takes effect at the next start: "));
  expect(/takes effect at the next start: ([^"]*)"/.exec(gateway.stderr())?.[1]).toBe(
    "search.learn, limits.requestBodyBytes",
  );
  await until(async () => (await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools.length === 2);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/list",
    params: { _meta: { x: "y".repeat(3_000) } },
  });
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  for (const path of ["/mcp", "/execute/a:tool-1"]) {
    const answer = await fetch(`${gateway.url}${path}`, { method: "POST", headers, body });
    expect(answer.status, path).toBe(413);
    expect(await answer.text()).toContain("limits.requestBodyBytes, now 2000 bytes");
  }
});

describe("FAULT 87: a file that cannot be used is refused with line and column, and the old one stays", () => {
  test.each([
    ["half-written", '{ "mcpServers": {\n "a": { "comm'],
    ["empty", ""],
    ["no JSON", "hello"],
    ["of wrong types", '{\n "mcpServers": { "a": { "command": "x" } }, "toolyard": { "port": "x" }\n}'],
    ["with servers elsewhere", '{\n "mcpservers": { "a": { "command": "x" } }\n}'],
    ["50 MB", `{ "mcpServers": {} , "x": "${"y".repeat(50_000_000)}" }`],
  ])("%s", async (_name, text) => {
    await using gateway = await startGateway({ config: config({ a: server("a") }), directory });
    await until(async () => (await serversOf(gateway)) === "a:2");
    await writeFile(gateway.configFile, text);
    await until(() => gateway.stderr().includes("the old one stays"));
    expect(gateway.stderr()).toMatch(/toolyard\.json(:\d+:\d+)?: /);
    expect((await execute(gateway.url, "a:tool-1")).structuredContent.pid).toBe(startsIn(pidFile("a"))[0]);
    await writeFile(gateway.configFile, config({ a: server("a"), b: server("b") }));
    await until(async () => (await serversOf(gateway)) === "a:2 b:2");
    expect(startsIn(pidFile("a"))).toHaveLength(1);
  });

  test("at the first start it is exit code 2, and nothing is started", async () => {
    await expect(startGateway({ config: '{ "mcpServers": {\n "a": { "comm', directory })).rejects.toThrow(
      /toolyard\.json:2:\d+/,
    );
  });
});

test("FAULT 89: a thousand reloads under two hundred calls: none fails, and the last file counts", async () => {
  await using gateway = await startGateway({
    config: config({ steady: server("steady"), other: server("other") }),
    directory,
  });
  await until(async () => (await serversOf(gateway)) === "steady:2 other:2");
  const done = new AbortController();
  let failed = 0;
  let calls = 0;
  const callers = Array.from({ length: 200 }, async () => {
    while (!done.signal.aborted) {
      const result = await execute(gateway.url, "steady:tool-1");
      calls += 1;
      if (result.isError === true || result.structuredContent === undefined) failed += 1;
    }
  });
  for (let reload = 0; reload < 1_000; reload += 1) {
    await writeFile(
      gateway.configFile,
      config({ steady: server("steady"), other: server("other", "--tool-name", `tool-${reload}-x`) }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await until(async () => {
    const found = await rpc(`${gateway.url}/mcp/server/other`, "tools/list");
    return found.json.result.tools.some((tool: { name: string }) => tool.name === "tool-999-x");
  });
  done.abort();
  await Promise.all(callers);
  expect(failed).toBe(0);
  expect(calls).toBeGreaterThan(1_000);
  expect(startsIn(pidFile("steady"))).toHaveLength(1);
});

describe("FAULT 90: however the file is replaced, it is picked up, and what cannot be read changes nothing", () => {
  const next = (): string => config({ a: server("a"), b: server("b") });

  test.each<[string, (file: string) => Promise<void>]>([
    [
      "renamed over",
      async (file) => {
        await writeFile(`${file}.tmp`, next());
        await rename(`${file}.tmp`, file);
      },
    ],
    [
      "deleted and made again",
      async (file) => {
        await unlink(file);
        await writeFile(file, next());
      },
    ],
    [
      "a link swapped",
      async (file) => {
        await writeFile(join(directory, "real.json"), next());
        await symlink(join(directory, "real.json"), `${file}.link`);
        await rename(`${file}.link`, file);
      },
    ],
    [
      "cut and written",
      async (file) => {
        await truncate(file);
        await writeFile(file, next());
      },
    ],
  ])("%s", async (_name, replace) => {
    await using gateway = await startGateway({ config: config({ a: server("a") }), directory });
    await until(async () => (await serversOf(gateway)) === "a:2");
    await replace(gateway.configFile);
    await until(async () => (await serversOf(gateway)) === "a:2 b:2");
    expect(startsIn(pidFile("a"))).toHaveLength(1);
  });

  test("deleted, or unreadable: the old one stays until there is one again", async () => {
    await using gateway = await startGateway({ config: config({ a: server("a") }), directory });
    await until(async () => (await serversOf(gateway)) === "a:2");
    await unlink(gateway.configFile);
    await until(() => gateway.stderr().includes("no such file"));
    expect((await standingOf(gateway.url, "a")).status).toBe("online");
    await writeFile(gateway.configFile, next());
    await chmod(gateway.configFile, 0o600);
    await until(async () => (await serversOf(gateway)) === "a:2 b:2");
  });
});
