import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute, modernRpc, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openStream } from "../protocol/stream.ts";
import { isAlive } from "../processes/survivors.ts";
import { startBadHttpServer } from "./bad-http-server.ts";
import { discover, standingOf, startsIn } from "./observing.ts";

const counterFile = fileURLToPath(new URL("../servers/counter-server.mjs", import.meta.url));

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-stateful-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const pidsOf = (name: string): string => join(directory, `${name}.pids`);
const counter = (name: string, entry: object = {}): object => ({
  command: process.execPath,
  args: [counterFile, "--write-pid", pidsOf(name)],
  ...entry,
});
const stateful = (name: string, entry: object = {}): object => counter(name, { stateful: true, ...entry });
const times = { idleGraceMs: 0, idleCheckMs: 100, idleTimeoutMs: 300, statefulIdleTimeoutMs: 300 };
const start = async (mcpServers: object, toolyard: object = {}): Promise<RunningGateway> =>
  await startGateway({ config: { mcpServers, toolyard: { instances: times, ...toolyard } }, directory });

const isDormant = async (gateway: RunningGateway, server: string): Promise<boolean> =>
  (await standingOf(gateway.url, server)).status === "dormant";
const isRunning = (name: string): boolean => startsIn(pidsOf(name)).some((pid) => isAlive(pid));
/** What is answered by a process that ran already: on a slow machine the server may fall asleep between two calls. */
const answerOfRunning = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
  const { answer } = await until(async () => {
    const starts = startsIn(pidsOf(name)).length;
    const now = await call();
    return startsIn(pidsOf(name)).length === starts && { answer: now };
  });
  return answer;
};
const restartedKey = "toolyard/restarted";

/** A legacy client with a session at an endpoint. */
async function initialize(gateway: RunningGateway, path = "/mcp", name = "a client") {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } };
  const { headers } = await rpc(`${gateway.url}${path}`, "initialize", params);
  const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
  return {
    call: async (method: string, body: object) => (await rpc(`${gateway.url}${path}`, method, body, session)).json,
    execute: async (tool_path: string) =>
      (
        await rpc(
          `${gateway.url}${path}`,
          "tools/call",
          { name: "execute_mcp_tool", arguments: { tool_path } },
          session,
        )
      ).json.result,
    end: async () => await send(`${gateway.url}${path}`, { method: "DELETE", headers: session }),
  };
}

describe("whoever used an earlier process of a server that holds state is told once", () => {
  test("after it was stopped for idleness: one text block at the end, and in _meta", async () => {
    await using gateway = await start({ x: stateful("x"), plain: counter("plain") });
    for (const server of ["x", "plain"])
      expect(await execute(gateway.url, `${server}:add`)).toEqual({ content: [{ type: "text", text: "1" }] });
    await until(async () => (await isDormant(gateway, "x")) && (await isDormant(gateway, "plain")));
    const told = await execute(gateway.url, "x:add");
    expect(told.content).toEqual([
      { type: "text", text: "1" },
      {
        type: "text",
        text: expect.stringMatching(
          /^Note from Toolyard: x was restarted .* is gone: it was stopped after [\d.]+ s without use\./,
        ) as string,
        _meta: { "toolyard/note": true },
      },
    ]);
    expect(told["_meta"][restartedKey]).toMatch(/^x was restarted/);
    const quiet = await answerOfRunning("x", async () => await execute(gateway.url, "x:empty"));
    expect(quiet).toEqual({ content: [], _meta: { own: 1 } });
    expect(await execute(gateway.url, "plain:add")).toEqual({ content: [{ type: "text", text: "1" }] });
  });

  test("after a crash, with its exit code; a result that is a failure carries it too, an error leaves it to the next", async () => {
    await using gateway = await start({ x: stateful("x", { idleTimeoutMs: 0 }) }, {});
    await execute(gateway.url, "x:add");
    await execute(gateway.url, "x:crash");
    await until(
      async () => (await standingOf(gateway.url, "x")).status === "online" && startsIn(pidsOf("x")).length > 1,
    );
    await execute(gateway.url, "x:refuse");
    const told = await execute(gateway.url, "x:fail");
    expect(told).toMatchObject({
      isError: true,
      content: [{ text: "no such page" }, { text: expect.stringContaining("crashed: exit code 3") as string }],
    });
    expect((await execute(gateway.url, "x:fail")).content).toHaveLength(1);
  });

  test("who only made the call that crashed it has used it", async () => {
    await using gateway = await start({ x: stateful("x", { idleTimeoutMs: 0 }) });
    const client = await initialize(gateway);
    const other = await initialize(gateway);
    expect((await client.execute("x:crash")).isError).toBe(true);
    expect((await client.execute("x:add")).content[1].text).toContain("crashed: exit code 3");
    expect((await other.execute("x:add")).content).toHaveLength(1);
  });

  test("after a restart by hand", async () => {
    await using gateway = await start({ x: stateful("x", { idleTimeoutMs: 0 }) });
    await execute(gateway.url, "x:add");
    const dataDir = join(directory, "data");
    expect((await runCommand(["restart", "x", "--config", gateway.configFile, "--data-dir", dataDir])).code).toBe(0);
    expect((await execute(gateway.url, "x:add")).content[1].text).toContain("restarted by hand");
  });

  test("after its configuration changed, and not when it was only given another name", async () => {
    await using gateway = await start({ x: stateful("x", { idleTimeoutMs: 0 }) });
    await execute(gateway.url, "x:add");
    const write = async (entry: object): Promise<void> =>
      await writeFile(gateway.configFile, JSON.stringify({ mcpServers: { x: stateful("x", entry) } }));
    await write({ displayName: "Counter", tools: { rename: { refuse: "decline" } } });
    await until(async () => JSON.stringify(await discover(gateway.url, { query: "decline" })).includes("x:decline"));
    expect(await execute(gateway.url, "x:add")).toEqual({ content: [{ type: "text", text: "2" }] });
    await write({ env: { CHANGED: "1" } });
    await until(() => startsIn(pidsOf("x")).length > 1);
    const told = await until(async () => {
      const result = await execute(gateway.url, "x:add");
      return result.isError !== true && result;
    });
    expect(told.content[1].text).toContain("its configuration changed");
  });

  test("only who used it, each of two sessions of the same program for itself", async () => {
    await using gateway = await start({ x: stateful("x", { idleTimeoutMs: 0 }) });
    const [user, second, stranger] = [await initialize(gateway), await initialize(gateway), await initialize(gateway)];
    await user.execute("x:add");
    await second.execute("x:add");
    process.kill(startsIn(pidsOf("x"))[0] ?? 0, "SIGKILL");
    await until(() => startsIn(pidsOf("x")).length > 1);
    expect((await stranger.execute("x:add")).content).toHaveLength(1);
    expect((await user.execute("x:add")).content[1].text).toContain("crashed: killed by SIGKILL");
    expect((await second.execute("x:add")).content).toHaveLength(2);
    expect((await user.execute("x:add")).content).toHaveLength(1);
  });

  test("a client whose session lapsed over the pause, and which came back with a new one", async () => {
    const sessionIdleMs = 1_000;
    await using gateway = await start({ x: stateful("x") }, { limits: { sessionIdleMs } });
    const before = await initialize(gateway, "/mcp", "pausing");
    await before.execute("x:add");
    await until(async () => await isDormant(gateway, "x"));
    expect((await (await initialize(gateway, "/mcp", "another")).execute("x:add")).content).toHaveLength(1);
    await until(async () => await isDormant(gateway, "x"));
    expect((await (await initialize(gateway, "/mcp", "pausing")).execute("x:add")).content).toHaveLength(2);
  });

  test("by a remote server whose entry says that it holds state: after it forgot its session", async () => {
    await using remote = await startBadHttpServer(0, "--session");
    await using gateway = await start({ x: { url: remote.url, stateful: true }, plain: { url: remote.url } });
    await until(async () => (await standingOf(gateway.url, "x")).status === "online");
    await until(async () => (await standingOf(gateway.url, "plain")).status === "online");
    for (const server of ["x", "plain"]) {
      await execute(gateway.url, `${server}:remember`, { value: "v" });
      await execute(gateway.url, `${server}:expire-session`);
    }
    const told = await execute(gateway.url, "x:recall");
    expect(told).toMatchObject({
      content: [{ text: expect.stringContaining('"value":null') as string }, { type: "text" }],
      _meta: { [restartedKey]: expect.any(String) as string },
    });
    expect(told.content.at(-1).text).toContain("it ended its session");
    expect((await execute(gateway.url, "plain:recall"))["_meta"]).toBeUndefined();
  });

  test("by its own instance where each client has one, and nobody by another's", async () => {
    await using gateway = await start({ x: stateful("x", { scope: "client", idleTimeoutMs: 0 }) });
    const [client, other] = [await initialize(gateway), await initialize(gateway)];
    await client.execute("x:add");
    await other.execute("x:add");
    await client.execute("x:crash");
    expect((await client.execute("x:add")).content[1].text).toContain("crashed: exit code 3");
    expect((await client.execute("x:add")).content).toHaveLength(1);
    expect(await other.execute("x:add")).toEqual({ content: [{ type: "text", text: "2" }] });
    const restart = ["restart", "x", "--config", gateway.configFile, "--data-dir", join(directory, "data")];
    expect((await runCommand(restart)).code).toBe(0);
    for (const one of [client, other])
      expect((await one.execute("x:add")).content[1].text).toContain("restarted by hand");
    const changed = { x: stateful("x", { scope: "client", idleTimeoutMs: 0, env: { CHANGED: "1" } }) };
    await writeFile(gateway.configFile, JSON.stringify({ mcpServers: changed }));
    for (const one of [client, other]) {
      const told = await until(async () => {
        const result = await one.execute("x:add");
        return result.content.length > 1 && result;
      });
      expect(told.content[1].text).toContain("its configuration changed");
    }
  });

  test("a program without a connection, whose own instance was stopped for want of use", async () => {
    const limits = { sessionIdleMs: 1_000 };
    await using gateway = await start({ x: stateful("x", { scope: "client", idleTimeoutMs: 0 }) }, { limits });
    const add = async (): Promise<{ content: { text: string }[] }> => {
      const _meta = { "io.modelcontextprotocol/clientInfo": { name: "editor", version: "1" } };
      const params = { name: "execute_mcp_tool", arguments: { tool_path: "x:add" }, _meta };
      return (await modernRpc(`${gateway.url}/mcp`, "tools/call", params)).json.result;
    };
    expect((await add()).content).toHaveLength(1);
    // The first process is the base's, whose lists are shown.
    await until(() =>
      startsIn(pidsOf("x"))
        .slice(1)
        .every((pid) => !isAlive(pid)),
    );
    expect((await add()).content[1]?.text).toContain("stopped while it was not used");
  });

  test("programs of revision 2026-07-28 are told apart by their names", async () => {
    await using gateway = await start({ x: stateful("x") });
    const call = async (name: string) => {
      const _meta = { "io.modelcontextprotocol/clientInfo": { name, version: "1" } };
      const params = { name: "execute_mcp_tool", arguments: { tool_path: "x:add" }, _meta };
      return (await modernRpc(`${gateway.url}/mcp`, "tools/call", params)).json.result;
    };
    await call("one");
    await until(async () => await isDormant(gateway, "x"));
    expect((await call("two")).content).toHaveLength(1);
    const told = await call("one");
    expect(told).toMatchObject({ resultType: "complete", _meta: { [restartedKey]: expect.any(String) as string } });
    expect(told["_meta"]["io.modelcontextprotocol/serverInfo"].name).toBe("toolyard");
    expect(told.content).toHaveLength(2);
  });
});

describe("the notice in every exposure", () => {
  const lose = async (gateway: RunningGateway, use: () => Promise<unknown>): Promise<void> => {
    await use();
    await until(async () => await isDormant(gateway, "x"));
  };

  test.each([
    ["/mcp/flat", "x-add"],
    ["/mcp/namespaces", "x__add"],
    ["/mcp", "execute_mcp_tool"],
  ])("%s: a block at the end and _meta; a result without content gets it as its only block", async (path, name) => {
    await using gateway = await start({ x: stateful("x") });
    const tool = (last: string): object =>
      name === "execute_mcp_tool"
        ? { name, arguments: { tool_path: `x:${last}` } }
        : { name: name.replace("add", last), arguments: {} };
    const call = async (last: string) => (await rpc(`${gateway.url}${path}`, "tools/call", tool(last))).json.result;
    await lose(gateway, async () => await call("add"));
    const told = await call("empty");
    expect(told.content).toEqual([
      {
        ...{ type: "text", text: expect.stringContaining("restarted") as string },
        _meta: { "toolyard/note": true },
      },
    ]);
    expect(told["_meta"]).toEqual({ [restartedKey]: expect.any(String) as string, own: 1 });
  });

  test("where one server is shown as it is only _meta says so", async () => {
    await using gateway = await start({ x: stateful("x") });
    const call = async (): Promise<string> =>
      (await rpc(`${gateway.url}/mcp/server/x`, "tools/call", { name: "add", arguments: {} })).text;
    await lose(gateway, call);
    const told = await call();
    const entry = /"_meta":\{"toolyard\/restarted":"[^"]+"\},/.exec(told)?.[0] ?? "nothing";
    expect(told.slice(told.indexOf('"result"')).replace(entry, "")).toBe(
      '"result":{"content":[{"type":"text","text":"1"}]}}',
    );
    expect(await answerOfRunning("x", call)).not.toContain("toolyard/");
  });

  test("REST: in the result's _meta, of calls and of reads", async () => {
    await using gateway = await start({ x: stateful("x") });
    const post = async () =>
      (await send(`${gateway.url}/execute/x:add`, { headers: { "content-type": "application/json" }, body: "{}" }))
        .json;
    await lose(gateway, post);
    const told = await post();
    expect(told).toMatchObject({
      success: true,
      result: { content: [{ text: "1" }], _meta: { [restartedKey]: expect.any(String) as string } },
    });
    expect((await answerOfRunning("x", post)).result["_meta"]).toBeUndefined();
    await until(async () => await isDormant(gateway, "x"));
    const { resources } = (await send(`${gateway.url}/api/resources`, { method: "GET" })).json;
    const read = await send(`${gateway.url}/api/resources/read?uri=${encodeURIComponent(resources[0].uri)}`, {
      method: "GET",
    });
    expect(read.json["_meta"][restartedKey]).toContain("x was restarted");
  });

  test("reads and prompts: _meta; the tool that reads says it in a block as well", async () => {
    await using gateway = await start({ x: stateful("x") });
    const url = `${gateway.url}/mcp`;
    const { uri } = await until(async () => (await rpc(url, "resources/list")).json.result.resources[0]);
    const { name } = (await rpc(url, "prompts/list")).json.result.prompts[0];
    const read = async () => (await rpc(url, "resources/read", { uri })).json.result;
    await lose(gateway, read);
    const told = await read();
    expect(told.contents).toHaveLength(1);
    expect(told["_meta"][restartedKey]).toContain("x was restarted");
    await lose(gateway, read);
    const prompt = (await rpc(url, "prompts/get", { name })).json.result;
    expect(prompt["_meta"][restartedKey]).toContain("x was restarted");
    expect(prompt.messages).toHaveLength(1);
    await lose(gateway, read);
    const byTool = (await rpc(url, "tools/call", { name: "read_mcp_resource", arguments: { uri } })).json.result;
    expect(byTool.content.map((block: { type: string }) => block.type)).toEqual(["resource", "text"]);
  });
});

describe("a server that holds state stays", () => {
  test("while a session that used it is open, and no longer; others sleep as ever", async () => {
    await using gateway = await start({ x: stateful("x"), left: stateful("left"), plain: counter("plain") });
    const client = await initialize(gateway);
    await client.execute("x:add");
    await client.execute("plain:add");
    const briefly = await initialize(gateway);
    await briefly.execute("left:add");
    await briefly.end();
    await until(async () => (await isDormant(gateway, "plain")) && (await isDormant(gateway, "left")));
    expect(isRunning("x")).toBe(true);
    expect(await client.execute("x:add")).toEqual({ content: [{ type: "text", text: "2" }] });
    await client.end();
    await until(async () => await isDormant(gateway, "x"));
  });

  test("for instances.statefulIdleTimeoutMs after its last use, whoever used it", async () => {
    const instances = { ...times, statefulIdleTimeoutMs: 7_200_000 };
    await using gateway = await start({ x: stateful("x"), off: counter("off", { stateful: false }) }, { instances });
    await execute(gateway.url, "x:add");
    await execute(gateway.url, "off:add");
    await until(async () => await isDormant(gateway, "off"));
    expect(isRunning("x")).toBe(true);
    expect(await execute(gateway.url, "x:add")).toEqual({ content: [{ type: "text", text: "2" }] });
  });

  test("not when its own idleTimeoutMs says otherwise", async () => {
    const instances = { ...times, statefulIdleTimeoutMs: 7_200_000 };
    await using gateway = await start({ x: stateful("x", { idleTimeoutMs: 300 }) }, { instances });
    const client = await initialize(gateway);
    await client.execute("x:add");
    await until(async () => await isDormant(gateway, "x"));
    expect((await client.execute("x:add")).content).toHaveLength(2);
  });

  test("when its package is a known one, without a word in the configuration", async () => {
    const modules = join(directory, "node_modules");
    const folder = join(modules, "@playwright", "mcp");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "cli.mjs"), `await import(${JSON.stringify(counterFile)});`);
    await mkdir(join(modules, "other"));
    await writeFile(join(modules, "other", "cli.mjs"), `await import(${JSON.stringify(counterFile)});`);
    const from = (path: string): object => ({ command: process.execPath, args: [path] });
    await using gateway = await start({
      browser: from(join(folder, "cli.mjs")),
      other: from(join(modules, "other", "cli.mjs")),
    });
    const client = await initialize(gateway);
    for (const server of ["browser", "other"]) await client.execute(`${server}:add`);
    await until(async () => await isDormant(gateway, "other"));
    expect((await client.execute("browser:add")).content).toEqual([{ type: "text", text: "2" }]);
    await client.end();
    await until(async () => await isDormant(gateway, "browser"));
    expect((await execute(gateway.url, "browser:add")).content).toHaveLength(1);
  });

  test("while a client of revision 2026-07-28 that used it listens", async () => {
    await using gateway = await start({ x: stateful("x"), plain: counter("plain") });
    const url = `${gateway.url}/mcp`;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const method = "subscriptions/listen";
    const stream = await openStream(url, {
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": method },
      body: { jsonrpc: "2.0", id: 1, method, params: { notifications: { toolsListChanged: true }, _meta: meta } },
    });
    for (const tool_path of ["x:add", "plain:add"])
      await modernRpc(url, "tools/call", { name: "execute_mcp_tool", arguments: { tool_path } });
    await until(async () => await isDormant(gateway, "plain"));
    expect(isRunning("x")).toBe(true);
    stream.close();
    await until(async () => await isDormant(gateway, "x"));
  });

  test.each(["legacy", "modern"])("while a %s client over stdio that used it is there", async (era) => {
    await using gateway = await start({ x: stateful("x"), plain: counter("plain") });
    const args = ["stdio", "--config", gateway.configFile, "--data-dir", join(directory, "data")];
    const client = spawn(process.execPath, [mainFile, ...args], { stdio: ["pipe", "pipe", "ignore"] });
    const answers = new Map<unknown, unknown>();
    createInterface({ input: client.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as { id?: unknown };
      answers.set(message.id, message);
    });
    let lastId = 0;
    const ask = async (method: string, params: object): Promise<unknown> => {
      const id = (lastId += 1);
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const sent = era === "modern" ? { ...params, _meta } : params;
      client.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: sent })}\n`);
      return await until(() => answers.get(id));
    };
    if (era === "legacy") await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
    for (const tool_path of ["x:add", "plain:add"])
      await ask("tools/call", { name: "execute_mcp_tool", arguments: { tool_path } });
    await until(async () => await isDormant(gateway, "plain"));
    expect(isRunning("x")).toBe(true);
    client.stdin.end();
    await until(async () => await isDormant(gateway, "x"));
  });
});
