import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute } from "../harness/rpc.ts";
import { metaKeys } from "../../src/wire/mcp/revisions.ts";
import { until } from "../harness/until.ts";
import { modernStream, openSession, openStream, type OpenStream } from "./stream.ts";
import { openSse } from "./sse-client.ts";

let gateway: RunningGateway;
const directory = mkdtempSync(join(tmpdir(), "toolyard-long-"));
let lastFile = 0;

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      mcpServers: {
        quick: badServer(),
      },
    },
  });
  await until(async () => JSON.stringify(await execute(gateway.url, "quick:canary")).includes("instance"));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** A call that the server answers when it is released. */
function heldCall(more: object = {}): { readonly params: Record<string, unknown>; release(): void } {
  const file = join(directory, `held-${(lastFile += 1)}`);
  return {
    params: { name: "execute_mcp_tool", arguments: { tool_path: "quick:slow", arguments: { until: file, ...more } } },
    release: () => writeFileSync(file, ""),
  };
}

const isEvents = ({ headers }: OpenStream): boolean => headers["content-type"] === "text/event-stream";
const answered = async (stream: OpenStream): Promise<string> =>
  JSON.stringify((await stream.next(({ result }) => result !== undefined)).result);

const ways: Record<string, (params: Record<string, unknown>) => Promise<OpenStream>> = {
  "a session of 2025-11-25": async (params) =>
    await (await openSession(`${gateway.url}/mcp`)).call(1, "tools/call", params),
  "a session of 2025-06-18": async (params) =>
    await (await openSession(`${gateway.url}/mcp`, { revision: "2025-06-18" })).call(1, "tools/call", params),
  "no session": async (params) =>
    await openStream(`${gateway.url}/mcp`, { body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } }),
  "2026-07-28": async (params) => await modernStream(`${gateway.url}/mcp`, 1, "tools/call", params),
  "2026-07-28 with a client that can be asked": async (params) =>
    await modernStream(`${gateway.url}/mcp`, 1, "tools/call", params, { elicitation: {} }),
  "one server's endpoint": async (params) =>
    await modernStream(`${gateway.url}/mcp/server/quick`, 1, "tools/call", {
      name: "slow",
      arguments: (params["arguments"] as { arguments: object }).arguments,
    }),
};

test.each(Object.keys(ways))(
  "the answer is begun while the server still works, and only then a stream: %s",
  async (way) => {
    const held = heldCall();
    const open = ways[way] as (typeof ways)[string];
    // Nothing has been said yet but that it goes on.
    const stream = await open(held.params);
    expect(isEvents(stream)).toBe(true);
    expect(stream.messages).toEqual([]);
    held.release();
    expect(await answered(stream)).toContain("found");
    const quick = heldCall();
    quick.release();
    expect((await open(quick.params)).headers["content-type"]).toBe("application/json");
  },
);

test("a client that takes no streams waits for its answer as JSON", async () => {
  const held = heldCall();
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: held.params };
  let plain: OpenStream | undefined;
  const waiting = openStream(`${gateway.url}/mcp`, { body, headers: { accept: "application/json" } });
  void waiting.then((stream) => (plain = stream));
  const other = await openStream(`${gateway.url}/mcp`, { body });
  expect(isEvents(other)).toBe(true);
  expect(plain).toBeUndefined();
  held.release();
  expect((await waiting).headers["content-type"]).toBe("application/json");
  expect(await answered(await waiting)).toContain("found");
});

test("a batch is begun early, and answered in one event", async () => {
  const held = heldCall();
  const session = await openSession(`${gateway.url}/mcp`, { revision: "2025-03-26" });
  const headers = { "mcp-session-id": session.id, "mcp-protocol-version": "2025-03-26" };
  const body = [
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { ...held.params, _meta: { progressToken: "b" } } },
  ];
  const stream = await openStream(`${gateway.url}/mcp`, { headers, body });
  expect(isEvents(stream)).toBe(true);
  held.release();
  const answers = (await stream.next((message) => Array.isArray(message))) as { id: number }[];
  expect(answers.map(({ id }) => id)).toEqual([1, 2]);
});

test("a large result that comes late arrives whole, to those who can come back for it and to others", async () => {
  const words = 1_000_000;
  for (const open of [ways["2026-07-28"], ways["a session of 2025-11-25"]]) {
    const held = heldCall({ words });
    const stream = await (open as (typeof ways)[string])({
      ...held.params,
      _meta: { [metaKeys.maxResultTokens]: 0 },
    });
    expect(isEvents(stream)).toBe(true);
    held.release();
    expect((await answered(stream)).length).toBeGreaterThan(5 * words);
  }
});

interface Told {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** What the client is told until it has been told this often, while the call is held. */
async function toldOf(
  stream: { readonly messages: readonly { method?: string; params?: unknown }[] },
  times: number,
): Promise<Told[]> {
  const told = (): Told[] =>
    stream.messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params as Told);
  await until(() => told().length >= times, 90_000);
  return told();
}

const grows = (told: readonly Told[]): boolean =>
  told.every(({ progress }, at) => progress > (told[at - 1]?.progress ?? Number.NEGATIVE_INFINITY));

/** A gateway whose server is known, and does not come up before it is released. */
async function startOnHold(): Promise<RunningGateway & { release(): void }> {
  const file = join(directory, "closed");
  const options = {
    config: {
      mcpServers: { "late-one": badServer("--wait-while-exists", file) },
      instances: { startTimeoutMs: 120_000 },
    },
    directory: mkdtempSync(join(directory, "kept-")),
  };
  const before = await startGateway(options);
  await until(async () => JSON.stringify(await execute(before.url, "late-one:canary")).includes("instance"));
  await before.stop();
  writeFileSync(file, "");
  return { ...(await startGateway(options)), release: () => rmSync(file) };
}

test("a client that gave a token is told what is waited for, over every transport", async () => {
  const _meta = { progressToken: "mine" };
  const held = heldCall();
  const params = { ...held.params, _meta };
  const sse = await openSse(`${gateway.url}/sse`);
  await sse.initialize();
  void sse.post({ id: 7, method: "tools/call", params });
  const args = [mainFile, "stdio", "--config", gateway.configFile, "--data-dir", `${gateway.directory}/data`];
  const client = new Client({ name: "official", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  const overStdio: { method: string; params: unknown }[] = [];
  const calling = client.callTool(held.params as { name: string }, undefined, {
    resetTimeoutOnProgress: true,
    onprogress: (told) => void overStdio.push({ method: "notifications/progress", params: told }),
  });
  const spoken = heldCall({ progress: { progress: 3, total: 10, message: "indexing" } });
  const silentCount = heldCall({ progress: { progress: 3, total: 10 } });
  const streams = [
    await modernStream(`${gateway.url}/mcp`, 1, "tools/call", params),
    await (await openSession(`${gateway.url}/mcp`)).call(1, "tools/call", params),
    sse,
    { messages: overStdio },
  ];
  const others = [
    await modernStream(`${gateway.url}/mcp`, 1, "tools/call", { ...spoken.params, _meta }),
    await modernStream(`${gateway.url}/mcp`, 1, "tools/call", { ...silentCount.params, _meta }),
  ] as const;
  await using starting = await startOnHold();
  const late = await modernStream(`${starting.url}/mcp`, 1, "tools/call", {
    name: "execute_mcp_tool",
    arguments: { tool_path: "late-one:canary", arguments: {} },
    _meta,
  });
  for (const stream of streams) {
    const told = await toldOf(stream, 2);
    expect(told[0]?.message).toMatch(/^waiting for quick: 1\d s$/);
    expect(told[1]?.message).toMatch(/^waiting for quick: [2-9]\d s$/);
    expect(told[0]).not.toHaveProperty("total");
    expect(grows(told)).toBe(true);
  }
  const [first] = await toldOf(late, 1);
  expect(first?.message).toMatch(/^starting late-one: 1\d s$/);
  for (const [other, words] of [
    [others[0], /^indexing$/],
    [others[1], /^waiting for quick: 1\d s$/],
  ] as const) {
    const told = await toldOf(other, 2);
    expect(told[0]).toMatchObject({ progress: 3, total: 10 });
    expect(told[1]?.message).toMatch(words);
    expect(told[1]?.total).toBe(10);
    expect(told[1]?.progress).toBeCloseTo(3, 4);
    expect(grows(told)).toBe(true);
  }
  for (const { release } of [held, spoken, silentCount, starting]) release();
  await calling;
  await client.close();
  await sse.next(({ id, result }) => id === 7 && result !== undefined);
  sse.close();
  expect(await answered(late)).toContain("bad-server");
});
