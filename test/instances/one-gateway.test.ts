import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, mainFile, startGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { locksIn, onlyPlace, type LockFile } from "../harness/places.ts";
import { isAlive } from "../processes/survivors.ts";
import { aliveIn, startsIn } from "./observing.ts";

let directory: string;
let pids: string;
let configFile: string;
const bridges: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-one-"));
  pids = join(directory, "pids");
  configFile = join(directory, "toolyard.json");
  await writeFile(configFile, JSON.stringify({ mcpServers: { bad: badServer("--write-pid", pids) } }));
});

afterEach(async () => {
  for (const bridge of bridges.splice(0)) bridge.kill("SIGKILL");
  await runCommand(["stop", ...flags()]);
  await until(() => locksIn(dataDir()).length === 0);
  await rm(directory, { recursive: true, force: true });
});

const dataDir = (): string => join(directory, "data");
const lockFile = (): string => join(onlyPlace(dataDir()), "gateway.lock");
const flags = (): string[] => ["--config", configFile, "--data-dir", dataDir()];
/** Of the only gateway that runs. */
function holder(): LockFile {
  const [lock, ...others] = locksIn(dataDir());
  if (lock === undefined || others.length > 0) throw new Error("there is not exactly one gateway");
  return lock;
}

async function connect(): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [mainFile, "stdio", ...flags()] }));
  return client;
}

/** The pid of the server that answers. */
async function serverPid(client: Client): Promise<string> {
  return await until(async () => {
    const result = (await client.callTool({
      name: "execute_mcp_tool",
      arguments: { tool_path: "bad:pid", arguments: {} },
    })) as { isError?: boolean; content: { text: string }[] };
    return result.isError !== true && result.content[0]?.text;
  });
}

/** A bridge whose lines are written and read as they are. */
function rawBridge(...more: string[]): {
  readonly lines: string[];
  readonly process: ChildProcess;
  write(line: string): void;
  answerTo(id: number): Promise<string>;
} {
  const child = spawn(process.execPath, [mainFile, "stdio", ...flags(), ...more], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  bridges.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return {
    lines,
    process: child,
    write: (line) => void child.stdin.write(`${line}\n`),
    answerTo: async (id) => await until(() => lines.find((line) => line.includes(`"id":${id},`))),
  };
}

describe("toolyard stdio", () => {
  test("three clients that start together share one gateway and one set of servers; closing one disturbs none", async () => {
    const clients = await Promise.all([connect(), connect(), connect()]);
    const [first, second, third] = clients;
    const seen = await Promise.all(clients.map(serverPid));
    expect(new Set(seen).size).toBe(1);
    expect(startsIn(pids)).toHaveLength(1);
    await first.close();
    expect(await serverPid(second)).toBe(seen[0]);
    expect((await third.listTools()).tools).toHaveLength(4);
    await Promise.all([second.close(), third.close()]);
    // The gateway stays for the next one.
    expect(isAlive(holder().pid)).toBe(true);
    const later = await connect();
    expect(await serverPid(later)).toBe(seen[0]);
    await later.close();
  });

  test("uses a gateway that serves already; the lock is readable by its owner only", async () => {
    await mkdir(join(directory, "x"));
    await using gateway = await startGateway({ config: readFileSync(configFile, "utf8"), directory });
    expect(holder()).toMatchObject({ pid: gateway.process.pid, url: gateway.url });
    expect(statSync(lockFile()).mode & 0o777).toBe(0o600);
    const client = await connect();
    expect((await client.listTools()).tools).toHaveLength(4);
    await client.close();
    expect(await gateway.stop()).toBe(0);
    expect(existsSync(lockFile())).toBe(false);
  });

  test("both eras pass byte for byte", async () => {
    const bridge = rawBridge("--exposure", "flat");
    const call = (id: number, extra: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"bad-echo","arguments":{"n":9007199254740993,"z":-0,"b":1e400,"a":"ü\\u00fc"}${extra}}}`;
    const modern =
      ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}';
    bridge.write(
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
    );
    expect(await bridge.answerTo(1)).toContain('"protocolVersion":"2025-11-25"');
    await until(async () => {
      bridge.lines.length = 0;
      bridge.write('{"jsonrpc":"2.0","id":2,"method":"tools/list"}');
      return (await bridge.answerTo(2)).includes("bad-echo");
    });
    bridge.write(call(3, ""));
    expect(await bridge.answerTo(3)).toContain('{"n":9007199254740993,"z":-0,"b":1e400,"a":"');
    bridge.write(call(4, modern));
    expect(await bridge.answerTo(4)).toMatch(
      /"n":9007199254740993,"z":-0,"b":1e400.*"resultType":"complete"|"resultType":"complete".*"n":9007199254740993/,
    );
    bridge.write("this is no JSON");
    await until(() => bridge.lines.some((line) => line.includes("-32700")));
    bridge.process.stdin?.end();
    expect(await new Promise((resolve) => bridge.process.once("exit", resolve))).toBe(0);
  });

  test("a script that closes its end behind a call gets the answer, also of a server that has to start", async () => {
    const bridge = rawBridge();
    const exited = once(bridge.process, "exit");
    const call = { name: "execute_mcp_tool", arguments: { tool_path: "bad:slow", arguments: { ms: 500 } } };
    bridge.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${JSON.stringify(call)}}`);
    bridge.process.stdin?.end();
    expect(await bridge.answerTo(1)).toContain("waitedMs");
    expect(await exited).toEqual([0, null]);
  });

  test("a gateway that was killed leaves a stale lock, which the next client takes over", async () => {
    const first = rawBridge();
    first.write('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    await first.answerTo(1);
    const dead = holder().pid;
    process.kill(dead, "SIGKILL");
    expect(await new Promise((resolve) => first.process.once("exit", resolve))).toBe(1);
    const client = await connect();
    expect((await client.listTools()).tools).toHaveLength(4);
    expect(holder().pid).not.toBe(dead);
    await client.close();
    await until(() => aliveIn(pids).length <= 1);
  });

  test("a client that comes while the gateway stops waits for the next one", async () => {
    await writeFile(
      configFile,
      JSON.stringify({
        mcpServers: { bad: badServer("--write-pid", pids, "--ignore-sigterm", "--ignore-eof") },
        toolyard: { instances: { stopTimeoutMs: 2_000 } },
      }),
    );
    const first = await connect();
    await serverPid(first);
    const { pid } = holder();
    await first.close();
    // The command returns only when the gateway has gone; whoever connects meanwhile waits as well.
    const stopping = runCommand(["stop", ...flags()]);
    await until(() => holder().url === null);
    expect(isAlive(pid)).toBe(true);
    const second = await connect();
    expect(isAlive(pid)).toBe(false);
    expect((await stopping).code).toBe(0);
    expect((await second.listTools()).tools).toHaveLength(4);
    await second.close();
  });

  test("a lock that makes no sense, or names a process that is another one now, is taken over", async () => {
    const first = await connect();
    await first.close();
    await runCommand(["stop", ...flags()]);
    expect(existsSync(lockFile())).toBe(false);
    for (const text of [
      "",
      "{",
      JSON.stringify({ pid: process.pid, startTime: "1", secret: "x", url: "http://127.0.0.1:1" }),
    ]) {
      await writeFile(lockFile(), text);
      const client = await connect();
      expect((await client.listTools()).tools).toHaveLength(4);
      await client.close();
      await runCommand(["stop", ...flags()]);
      await until(() => !existsSync(lockFile()));
    }
  });

  test("the background gateway ends itself when it has had no clients for long enough", async () => {
    const child = spawn(process.execPath, [mainFile, "stdio", ...flags()], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, TOOLYARD_IDLE_EXIT: "1" },
    });
    bridges.push(child);
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const { pid } = holder();
    child.stdin.end();
    await until(() => !isAlive(pid) && !existsSync(lockFile()));
    expect(aliveIn(pids)).toEqual([]);
  });

  test("a broken configuration is told at once, with exit code 2", async () => {
    await writeFile(configFile, "{");
    expect(await runCommand(["stdio", ...flags()])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("toolyard.json:1:") as string,
    });
    await writeFile(configFile, "{}");
  });
});

test("a data directory that cannot be written to is told as such", async () => {
  await mkdir(dataDir());
  await writeFile(join(dataDir(), "gateways"), "in the way");
  const refused = await runCommand(["serve", "--port", "0", ...flags()]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("nothing can be written to the data directory");
  expect(refused.stderr).not.toContain(" at ");
  await rm(dataDir(), { recursive: true });
});

test("servers are started also where it cannot be recorded that they run", async () => {
  await mkdir(dataDir(), { recursive: true });
  await writeFile(join(dataDir(), "run"), "in the way");
  const client = await connect();
  expect(await serverPid(client)).toMatch(/\d/);
  await client.close();
});

test("a second gateway of the same configuration is an error that names the first", async () => {
  await using gateway = await startGateway({ config: readFileSync(configFile, "utf8"), directory });
  const second = await runCommand(["serve", "--port", "0", ...flags()]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`process ${gateway.process.pid} at ${gateway.url}`);
  expect(second.stderr).not.toContain(holder().secret);
});

test("the owner's door opens for the secret only, and no browser can knock", async () => {
  await using gateway = await startGateway({ config: readFileSync(configFile, "utf8"), directory });
  const { secret } = holder();
  const knock = async (path: string, authorization: string): Promise<number | undefined> =>
    await new Promise((resolve, reject) => {
      const knocking = request(gateway.url, { method: "CONNECT", path, headers: { authorization } });
      knocking.on("connect", (response, socket) => {
        socket.destroy();
        resolve(response.statusCode);
      });
      knocking.on("error", reject);
      knocking.end();
    });
  expect(await knock("rest:1", "Bearer nonsense")).toBe(403);
  expect(await knock("rest:1", secret)).toBe(403);
  expect(await knock("example.com:443", `Bearer ${secret}`)).toBe(403);
  expect(await knock("rest:1", `Bearer ${secret}`)).toBe(200);
  // Other methods know nothing of it.
  expect((await send(`${gateway.url}/bridge:1`, { headers: { authorization: `Bearer ${secret}` } })).status).not.toBe(
    200,
  );
});

test("with a data directory the commands need no configuration, so that a broken one keeps nobody from them", async () => {
  await using gateway = await startGateway({ config: readFileSync(configFile, "utf8"), directory });
  await writeFile(configFile, "{");
  expect(await runCommand(["status", ...flags()])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(gateway.url) as string,
  });
  expect(await runCommand(["restart", "bad"], { TOOLYARD_DATA_DIR: dataDir() })).toMatchObject({ code: 0 });
  expect(await runCommand(["stop", ...flags()])).toMatchObject({ code: 0 });
  await until(() => gateway.process.exitCode === 0);
  expect(await runCommand(["status", "--config", configFile])).toMatchObject({ code: 2 });
});

test("toolyard status lists what runs", async () => {
  await using gateway = await startGateway({ config: readFileSync(configFile, "utf8"), directory });
  const shown = await until(async () => {
    const result = await runCommand(["status", ...flags()]);
    return result.stdout.includes("online") && result;
  });
  expect(shown.stdout).toMatch(
    new RegExp(
      `^gateway ${gateway.url} \\(process ${gateway.process.pid}\\)\\n  up .*\\n  SERVER .*\\n  bad +online +\\d+ .*\\n$`,
    ),
  );
});
