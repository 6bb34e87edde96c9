import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CallJson } from "../../src/records/calls/record-json.ts";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type GatewayOptions, type RunningGateway } from "../harness/gateway.ts";
import { rpc } from "../harness/rpc.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { startTraceCollector } from "../harness/trace-collector.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-call-records-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const start = async (entry: object, more: Partial<GatewayOptions> = {}): Promise<RunningGateway> => {
  const gateway = await startGateway({ directory, config: { mcpServers: { bad: entry } }, ...more });
  await untilOnline(gateway.url);
  return gateway;
};

async function callsOf(gateway: RunningGateway): Promise<readonly CallJson[]> {
  return ((await get(`${gateway.url}/api/calls`)).json as { calls: CallJson[] }).calls;
}

describe("what was asked for and not done", () => {
  const endpoint = (gateway: RunningGateway): string => `${gateway.url}/mcp`;
  const execute = async (gateway: RunningGateway, path: string, args: object = {}) =>
    await rpc(endpoint(gateway), "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: path, arguments: args },
    });

  test("calls that reach no server are recorded with their code, and searches with what they found", async () => {
    await using gateway = await start(badServer());
    await rpc(endpoint(gateway), "tools/call", { name: "discover_mcp_tools", arguments: { query: "echo a text" } });
    await execute(gateway, "bad:echo", { text: "a" });
    await execute(gateway, "bad:nosuch");
    await run(gateway.url, "nowhere:tool", {});
    const calls = (await callsOf(gateway)).toReversed();
    expect(calls).toMatchObject([
      { method: "search", name: "echo a text", server: "", instance: "", outcome: "ok", code: null },
      { method: "tools/call", name: "bad:echo", server: "bad", outcome: "ok", message: null },
      {
        name: "bad:nosuch",
        server: "bad",
        outcome: "failed",
        code: "TOOL_UNKNOWN",
        message: expect.stringContaining("bad has no tool"),
      },
      { name: "nowhere:tool", server: "", outcome: "failed", code: "TOOL_UNKNOWN", via: "rest" },
    ]);
    expect(calls[0]?.message).toContain("bad:echo");
    // They are no calls of a server: neither sums nor the audit of servers have them.
    const { json } = await get(`${gateway.url}/api/usage`);
    expect(JSON.stringify(json)).not.toContain("nosuch");
  });

  test("a call of a server that cannot start is recorded, with what the error says", async () => {
    const config = { mcpServers: { gone: { command: process.execPath, args: ["-e", "process.exit(3)"] } } };
    await using gateway = await startGateway({ directory, config });
    await execute(gateway, "gone:anything");
    const [call] = await callsOf(gateway);
    expect(call).toMatchObject({ name: "gone:anything", server: "gone", outcome: "failed" });
    expect([call?.code, call?.message]).not.toContain(null);
  });

  test("what a tool's own error says is kept, its first line only", async () => {
    await using gateway = await start(badServer());
    await run(gateway.url, "bad:fail", { text: "no such file: a\nat line 3" });
    const [call] = await callsOf(gateway);
    expect(call).toMatchObject({ name: "bad:fail", outcome: "tool_error", message: "no such file: a" });
  });
});

describe("the trace of a call", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const traced = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };

  test("is in the list, the detail, the export and the command where traces are on", async () => {
    await using collector = await startTraceCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "50" };
    await using gateway = await start(badServer(), { env });
    await run(gateway.url, "bad:echo", {}, traced);
    await run(gateway.url, "bad:echo", {});
    const [second, first] = await callsOf(gateway);
    expect(first?.traceId).toBe(traceId);
    expect(second?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(second?.traceId).not.toBe(traceId);
    expect((await get(`${gateway.url}/api/calls/${first?.id}`)).json).toMatchObject({ traceId });
    const csv = (await get(`${gateway.url}/api/calls`, { accept: "text/csv" })).text.split("\r\n");
    expect(csv[0]).toMatch(/,traceId,node,serverNode$/);
    expect(csv[2]).toMatch(new RegExp(`,${traceId},,$`));
    const told = await runCommand(["calls", "--json", "--data-dir", join(directory, "data")]);
    const rows = told.stdout.trim().split("\n");
    expect(rows.map((row) => (JSON.parse(row) as CallJson).traceId)).toEqual([traceId, second?.traceId]);
  });

  test("is not kept where traces are off, also of a client that sends one", async () => {
    await using gateway = await start(badServer());
    await run(gateway.url, "bad:echo", {}, traced);
    const [call] = await callsOf(gateway);
    expect(call).toBeDefined();
    expect(Object.keys(call ?? {})).not.toContain("traceId");
  });
});

test("FAULT J: what a tool's schema marks as secret is in no file of the gateway, whatever it is called", async () => {
  const secrets = { memo: "canary-of-the-memo", note: "canary-of-the-note", code: "canary-of-the-code" };
  const tools = [
    {
      name: "echo",
      inputSchema: {
        type: "object",
        properties: {
          memo: { type: "string", format: "password" },
          inner: { type: "object", properties: { note: { type: "string", writeOnly: true } } },
          list: { type: "array", items: { type: "object", properties: { code: { "x-secret": true } } } },
        },
      },
    },
  ];
  const file = join(directory, "tools.json");
  await writeFile(file, JSON.stringify(tools));
  const gateway = await start({ ...badServer("--tools-json", file, "--only-canaries"), requestLogging: "full" });
  const { memo, note, code } = secrets;
  const sent = { memo, inner: { note }, list: [{ code, plain: "seen" }] };
  expect((await run(gateway.url, "bad:echo", sent)).json).toMatchObject({ success: true });
  const [call] = await callsOf(gateway);
  const { json } = await get(`${gateway.url}/api/calls/${call?.id}`);
  expect(JSON.parse(json.body.arguments)).toEqual({
    memo: "[redacted]",
    inner: { note: "[redacted]" },
    list: [{ code: "[redacted]", plain: "seen" }],
  });
  await gateway.stop();
  const all = await readAll(join(directory, "data"));
  expect(all).toContain("seen");
  for (const secret of Object.values(secrets)) expect(all).not.toContain(secret);
});

async function readAll(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return (await Promise.all(files.map(async (path) => await readFile(path, "latin1")))).join("\n");
}
