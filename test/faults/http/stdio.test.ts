import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { failures } from "../../../src/kernel/failures/failures.ts";
import { badServer, mainFile } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";

type Message = {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Record<string, never>;
  readonly error?: { readonly code: number; readonly data?: Record<string, unknown> };
};

interface StdioFront {
  readonly process: ChildProcessWithoutNullStreams;
  write(text: string | Buffer): void;
  lines(): readonly string[];
  /** Waits for the message of that id. */
  answer(id: unknown): Promise<Message>;
  request(id: string | number, method: string, params?: object): Promise<Message>;
  exitCode(): Promise<number | null>;
  pidFile: string;
}

const started: { front: StdioFront; directory: string }[] = [];

afterEach(async () => {
  for (const { front, directory } of started.splice(0)) {
    front.process.kill("SIGKILL");
    await front.exitCode();
    // Its servers outlive it by a moment, and write there meanwhile.
    await rm(directory, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
});

async function start(settings: object = {}): Promise<StdioFront> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-stdio-"));
  const config = join(directory, "toolyard.json");
  const pidFile = join(directory, "pids");
  await writeFile(
    config,
    JSON.stringify({ mcpServers: { bad: badServer("--write-pid", pidFile) }, toolyard: settings }),
  );
  const child = spawn(process.execPath, [
    mainFile,
    "stdio",
    "--in-process",
    "--config",
    config,
    "--data-dir",
    join(directory, "data"),
  ]);
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  child.stdin.on("error", () => undefined);
  const lines = (): readonly string[] => text.split("\n").slice(0, -1);
  const messages = (): Message[] =>
    lines().map((line) => JSON.parse(Buffer.from(line, "latin1").toString("utf8")) as Message);
  const front: StdioFront = {
    process: child,
    write: (part) => void child.stdin.write(part),
    lines,
    answer: async (id) =>
      await until(() => messages().find((message) => message.id === id && message.method === undefined)),
    async request(id, method, params = {}) {
      front.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      return await front.answer(id);
    },
    exitCode: async () => await exited,
    pidFile,
  };
  started.push({ front, directory });
  return front;
}

const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function call(tool: string, args: object = {}): object {
  return { name: "execute_mcp_tool", arguments: { tool_path: `bad:${tool}`, arguments: args } };
}

/** The bad server's tools are known. */
async function ready(front: StdioFront): Promise<void> {
  let attempt = 0;
  await until(async () =>
    JSON.stringify(await front.request(`ready-${(attempt += 1)}`, "tools/call", call("canary"))).includes("pid"),
  );
}

test("both eras are spoken, also one after the other", async () => {
  const front = await start();
  expect((await front.request(1, "server/discover", { _meta: envelope })).result).toMatchObject({
    resultType: "complete",
    supportedVersions: expect.arrayContaining(["2026-07-28"]),
  });
  expect((await front.request(2, "tools/list", { _meta: envelope })).result).toMatchObject({
    resultType: "complete",
    tools: expect.anything(),
  });
  expect((await front.request(3, "initialize", initialize)).result).toMatchObject({ protocolVersion: "2025-11-25" });
  front.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  expect((await front.request("4", "tools/list")).result).not.toHaveProperty("resultType");
  expect((await front.request("5", "ping")).result).toEqual({});
});

describe("bad input", () => {
  test("is answered with its error, and the next line is served", async () => {
    const front = await start();
    await front.request(0, "initialize", initialize);
    const garbage: readonly (readonly [string | Buffer, number])[] = [
      ["hello", -32700],
      ["{", -32700],
      ["[", -32700],
      ["1", -32600],
      ["[]", -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
      [Buffer.from([0x7b, 0xff, 0x7d]), -32700],
      [`{"jsonrpc":"2.0","method":"x","params":{"a":${"[".repeat(100_000)}`, -31102],
      ['{"jsonrpc":"2.0","id":77,"method":"nope"}', -32601],
      ['{"jsonrpc":"2.0","id":78,"method":"tools/list","params":[1]}', -32602],
    ];
    const errors = (): readonly string[] => front.lines().filter((line) => line.includes('"error":'));
    let count = 0;
    for (const [line, code] of garbage) {
      front.write(Buffer.concat([Buffer.from(line as string), Buffer.from("\n")]));
      count += 1;
      await until(() => errors().length >= count);
      expect([line.toString().slice(0, 60), (JSON.parse(errors().at(-1) ?? "") as Message).error?.code]).toEqual([
        line.toString().slice(0, 60),
        code,
      ]);
    }
    front.write("\n\r\n  \r\n");
    front.write(`${JSON.stringify({ jsonrpc: "2.0", id: "crlf", method: "ping" })}\r\n`);
    expect((await front.answer("crlf")).result).toEqual({});
  });

  test("FAULT 10, FAULT 11: an envelope that lacks something, and an unknown version with the list of those that are served", async () => {
    const front = await start();
    expect(
      (await front.request(1, "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }))
        .error?.code,
    ).toBe(-32602);
    const unknown = await front.request(2, "tools/list", {
      _meta: { ...envelope, "io.modelcontextprotocol/protocolVersion": "2030-01-01" },
    });
    expect(unknown.error).toMatchObject({
      code: -32022,
      data: { supported: expect.arrayContaining(["2026-07-28", "2025-11-25"]) },
    });
  });

  test("FAULT 13: a line beyond the limit ends the connection with a reason, not the machine's memory", async () => {
    const front = await start({ limits: { requestBodyBytes: 10_000 } });
    front.write("x".repeat(20_000));
    expect(await front.exitCode()).toBe(0);
    const { code, rpc, hint } = { code: "BODY_TOO_LARGE", ...failures.BODY_TOO_LARGE };
    const { error } = JSON.parse(front.lines().at(-1) ?? "") as Message;
    // It names the limit in force besides.
    const named = expect.stringContaining(hint.slice(0, -1)) as string;
    expect(error).toMatchObject({ code: rpc, data: { code, hint: named } });
  });

  test("a line that is no JSON gets the row of the table: number, code and hint", async () => {
    const front = await start();
    await ready(front);
    front.write("no JSON\n");
    const { rpc, hint } = failures.PARSE_ERROR;
    expect((await front.answer(null)).error).toMatchObject({ code: rpc, data: { code: "PARSE_ERROR", hint } });
  });

  test("FAULT 17, FAULT 18: text and numbers reach the server byte for byte, in lines cut anywhere", async () => {
    const front = await start();
    await ready(front);
    const args = '{"a":1e400,"b":-0,"c":9007199254740993,"d":"ä🙂\\ud800\u2028"}';
    const line = Buffer.from(
      `{"jsonrpc":"2.0","id":"bytes","method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"bad:echo","arguments":${args}}}}\n`,
    );
    for (const byte of line) front.write(Buffer.from([byte]));
    const answer = await front.answer("bytes");
    expect((answer.result as unknown as { content: { text: string }[] }).content[0]?.text).toBe(args);
    expect(Buffer.from(front.lines().at(-1) ?? "", "latin1").toString("utf8")).toContain(`"structuredContent":${args}`);
  });
});

test("parallel requests are answered each with its own, in whatever order they end", async () => {
  const front = await start();
  await ready(front);
  const ids = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? index : `s${index}`));
  const slow = front.request("slow", "tools/call", call("slow", { ms: 500 }));
  const answers = await Promise.all(ids.map(async (id) => await front.request(id, "tools/call", call("echo", { id }))));
  expect(
    answers.map(({ result }) => (result as unknown as { structuredContent: { id: unknown } }).structuredContent.id),
  ).toEqual(ids);
  expect((await slow).result).toBeDefined();
  const texts = front.lines().map((line) => (JSON.parse(line) as Message).id);
  for (const id of ids) expect(texts.filter((text) => text === id)).toHaveLength(1);
});

test("a cancelled request is not answered; others are", async () => {
  const front = await start();
  await front.request(0, "initialize", initialize);
  await ready(front);
  front.write(`${JSON.stringify({ jsonrpc: "2.0", id: "é", method: "tools/call", params: call("hang") })}\n`);
  front.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: "modern", method: "tools/call", params: { ...call("hang"), _meta: envelope } })}\n`,
  );
  for (const requestId of ["é", "modern"])
    front.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })}\n`);
  expect((await front.request(3, "ping")).result).toEqual({});
  let asked = 0;
  await until(async () => {
    const { result } = await front.request(`left-${(asked += 1)}`, "tools/call", call("in-flight"));
    return JSON.stringify(result).includes('\\"inFlight\\":1');
  });
  const answered = front
    .lines()
    .map((line) => (JSON.parse(Buffer.from(line, "latin1").toString("utf8")) as Message).id);
  expect(answered.filter((id) => id === "modern" || id === "é")).toEqual([]);
});

describe("the end of stdin", () => {
  test.each([
    ["idle", undefined],
    ["with a call in flight", "hang"],
  ])("ends the gateway with 0 and leaves no child: %s", async (_when, tool) => {
    const front = await start();
    await ready(front);
    const pids = (await readFile(front.pidFile, "utf8"))
      .trim()
      .split("\n")
      .map((line) => Number.parseInt(line, 10));
    expect(pids.length).toBeGreaterThan(0);
    if (tool !== undefined)
      front.write(`${JSON.stringify({ jsonrpc: "2.0", id: "left", method: "tools/call", params: call(tool) })}\n`);
    front.process.stdin.end();
    expect(await front.exitCode()).toBe(0);
    await until(() => pids.every((pid) => !isAlive(pid)));
  });

  test("a signal does the same", async () => {
    const front = await start();
    await ready(front);
    front.process.kill("SIGTERM");
    expect(await front.exitCode()).toBe(0);
  });

  test("right behind a request still answers it", async () => {
    const front = await start();
    front.process.stdin.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    expect(await front.exitCode()).toBe(0);
    expect((await front.answer(1)).result).toBeDefined();
  });

  test("right behind a call that takes a while still answers it", async () => {
    const front = await start();
    await ready(front);
    const slow = { name: "execute_mcp_tool", arguments: { tool_path: "bad:slow", arguments: { ms: 700 } } };
    front.process.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: "slow", method: "tools/call", params: slow })}\n`);
    expect((await front.answer("slow")).result).toMatchObject({ content: [{ text: '{"waitedMs":700}' }] });
    expect(await front.exitCode()).toBe(0);
  });

  test("a client that closes only its reading end does no harm", async () => {
    const front = await start();
    await front.request(0, "initialize", initialize);
    front.process.stdout.destroy();
    front.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    expect(await front.exitCode()).toBe(0);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
