import { mkdtempSync, readFileSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isComing, type InstanceStatus } from "../../src/kernel/status-words.ts";
import { badServer, startGateway, type GatewayOptions, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc, send, type RawAnswer } from "../harness/rpc.ts";
import { get } from "../harness/rest.ts";
import { startTraceCollector, type CollectedSpan, type TraceCollector } from "../harness/trace-collector.ts";
import { until } from "../harness/until.ts";
import { startBadHttpServer, type BadHttpServer } from "../instances/bad-http-server.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentSpanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${parentSpanId}-01`;
const spanKind = { internal: 1, server: 2, client: 3 };

let folder = "";
let remote: BadHttpServer;
let oldest: BadHttpServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-traces-"));
  remote = await startBadHttpServer(0, "--era", "both");
  oldest = await startBadHttpServer(0, "--sse");
});
afterAll(async () => {
  await remote[Symbol.asyncDispose]();
  await oldest[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function config(): { mcpServers: object } {
  const newer = badServer("--era", "modern");
  const old = { type: "sse", url: oldest.url };
  return { mcpServers: { local: badServer(), newer, remote: { url: remote.url }, old } };
}

function tracingTo(
  collector: TraceCollector,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "50", ...more };
}

/** A call that comes before its server is up is refused after two seconds, which a busy machine needs for a start. */
async function startUp(options: GatewayOptions): Promise<RunningGateway> {
  const gateway = await startGateway(options);
  await until(async () => {
    const { json } = await get(`${gateway.url}/api/servers`);
    return json.servers.every(({ status }: { readonly status: InstanceStatus }) => !isComing(status));
  });
  return gateway;
}

interface Ask {
  readonly era: "modern" | "legacy";
  readonly meta?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

async function execute(
  gateway: RunningGateway,
  path: string,
  { era, meta, headers }: Ask,
  args: object = {},
): Promise<RawAnswer> {
  const params = {
    name: "execute_mcp_tool",
    arguments: { tool_path: path, arguments: args },
    ...(meta === undefined ? {} : { _meta: meta }),
  };
  const url = `${gateway.url}/mcp`;
  if (era === "legacy") return await rpc(url, "tools/call", params, headers);
  return await modernRpc(url, "tools/call", params, {}, headers);
}

/** What the server's tool `meta` or `headers` says that it was sent. */
async function seen(gateway: RunningGateway, path: string, ask: Ask): Promise<Record<string, string>> {
  const { json } = await execute(gateway, path, ask);
  return JSON.parse(json.result.content[0].text);
}

/** Waits until the trace has a span of this name. */
async function spanOf(collector: TraceCollector, name: string, trace = traceId): Promise<CollectedSpan> {
  return await until(() => collector.spans.find((span) => span.name === name && span.traceId === trace));
}

/** What makes one call and looks at its spans alone shares these two gateways. */
interface SharedGateways {
  readonly collector: TraceCollector;
  readonly traced: RunningGateway;
  readonly untraced: RunningGateway;
}
let shared: SharedGateways;
beforeAll(async () => {
  const collector = await startTraceCollector();
  const [traced, untraced] = await Promise.all([
    startUp({ config: config(), env: tracingTo(collector) }),
    startUp({ config: config() }),
  ]);
  shared = { collector, traced, untraced };
});
afterAll(async () => {
  await shared.traced[Symbol.asyncDispose]();
  await shared.untraced[Symbol.asyncDispose]();
  await shared.collector[Symbol.asyncDispose]();
});

describe.each(["modern", "legacy"] as const)("a %s client", (era) => {
  beforeEach(() => shared.collector.clear());

  describe.each([
    ["local", "stdio", "pipe"],
    ["newer", "stdio", "pipe"],
    ["remote", "http", "tcp"],
    ["old", "sse", "tcp"],
  ])("and the server %s", (server, transport, network) => {
    test("the client's span is the parent of the gateway's, and that of the request to the server, which is told", async () => {
      const { collector, traced: gateway } = shared;
      const meta = { traceparent, tracestate: "vendor=1", baggage: "k=v" };
      const told = await seen(gateway, `${server}:meta`, { era, meta });
      const own = await spanOf(collector, `tools/call ${server}:meta`);
      const upstream = await spanOf(collector, "tools/call meta");
      expect(own).toMatchObject({ parentSpanId, kind: spanKind.server, traceState: "vendor=1" });
      expect(upstream).toMatchObject({ parentSpanId: own.spanId, kind: spanKind.client, traceState: "vendor=1" });
      expect(told).toMatchObject({
        traceparent: `00-${traceId}-${upstream.spanId}-01`,
        tracestate: "vendor=1",
        baggage: "k=v",
      });
      expect(own.attributes).toMatchObject({
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": `${server}:meta`,
        "toolyard.server": server,
      });
      expect(upstream.attributes).toMatchObject({
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "meta",
        "toolyard.server": server,
        "toolyard.transport": transport,
        "network.transport": network,
      });
      // A span begins at a whole millisecond of the clock and ends so much later, to the nanosecond. A busy machine may
      // stop the process between the readings of the two clocks.
      expect(own.startNs <= upstream.startNs && upstream.endNs <= own.endNs + 100_000_000n).toBe(true);
    });

    test("a trace in the headers is carried on, in _meta and over HTTP in headers too", async () => {
      const gateway = shared.untraced;
      const headers = { traceparent, tracestate: "vendor=1", baggage: "k=v" };
      expect(await seen(gateway, `${server}:meta`, { era, headers })).toMatchObject(headers);
      if (network !== "tcp") return;
      expect(await seen(gateway, `${server}:headers`, { era, headers })).toMatchObject(headers);
      const meta = { traceparent: traceparent.replace("0af7", "1af7") };
      expect(await seen(gateway, `${server}:headers`, { era, headers, meta })).toMatchObject(meta);
    });
  });

  test("a traceparent that is none reaches no header, and with traces on a trace begins instead", async () => {
    const { collector, traced: gateway } = shared;
    const { traceparent: told } = await seen(gateway, "remote:headers", {
      era,
      meta: { traceparent: "00-abc-def-01\r\nx: y" },
    });
    const upstream = await until(() => collector.spans.find((span) => span.name === "tools/call headers"));
    expect(told).toBe(`00-${upstream.traceId}-${upstream.spanId}-01`);
  });
});

describe("a gateway that is asked for traces", () => {
  beforeEach(() => shared.collector.clear());

  const modern = { era: "modern", meta: { traceparent } } as const;

  test("a search has a span, with the engine and the number of results, and nothing of what was searched", async () => {
    const { collector, traced: gateway } = shared;
    const params = { name: "discover_mcp_tools", arguments: { query: "zebra echo text" }, _meta: { traceparent } };
    await modernRpc(`${gateway.url}/mcp`, "tools/call", params);
    const span = await spanOf(collector, "tools/call discover_mcp_tools");
    expect(span).toMatchObject({ parentSpanId, kind: spanKind.server, status: 0 });
    expect(span.attributes).toMatchObject({
      "gen_ai.tool.name": "discover_mcp_tools",
      "toolyard.search.engine": expect.any(String),
      "toolyard.search.results": expect.any(Number),
    });
    expect(span.attributes["toolyard.search.results"]).toBeGreaterThan(0);
    expect(Buffer.concat(collector.bytes).includes("zebra")).toBe(false);
  });

  test("the start of a server is a trace of its own, to which the call that waited for it has a link", async () => {
    await using collector = await startTraceCollector();
    const slow = badServer("--start-delay", "300");
    await using gateway = await startGateway({ config: { mcpServers: { slow } }, env: tracingTo(collector) });
    await until(async () => (await execute(gateway, "slow:echo", modern)).text.includes('"content"'));
    const start = await until(() => collector.spans.find((span) => span.name === "start slow"));
    expect(start).toMatchObject({ parentSpanId: "", kind: spanKind.internal, status: 0 });
    expect(start.attributes).toMatchObject({
      "toolyard.server": "slow",
      "network.transport": "pipe",
      "mcp.protocol.version": expect.any(String),
      "process.pid": expect.any(Number),
    });
    await rpc(`${gateway.url}/mcp`, "tools/call", { name: "execute_mcp_tool", arguments: { tool_path: "slow:exit" } });
    await until(async () => (await execute(gateway, "slow:echo", modern)).text.includes('"content"'));
    const waited = await spanOf(collector, "wait for slow");
    const call = await until(() => collector.spans.find((span) => span.spanId === waited.parentSpanId));
    expect(call.name).toBe("tools/call slow:echo");
    const [link] = waited.links;
    const linked = await until(() => collector.spans.find((span) => span.spanId === link?.spanId));
    expect(linked).toMatchObject({ name: "start slow", traceId: link?.traceId });
  });

  test("a failure has its code as the type: of a tool, of the protocol, of the gateway, of a start", async () => {
    await using collector = await startTraceCollector();
    const servers = { ...config().mcpServers, gone: { command: join(folder, "missing") } };
    await using gateway = await startUp({ config: { mcpServers: servers }, env: tracingTo(collector) });
    await execute(gateway, "local:fail", modern);
    await execute(gateway, "local:rpc-error", modern, { code: -31_999, message: "mine" });
    const failed = await spanOf(collector, "tools/call local:fail");
    expect(failed).toMatchObject({ status: 2, attributes: { "error.type": "tool_error" } });
    expect(await spanOf(collector, "tools/call local:rpc-error")).toMatchObject({ status: 2 });
    expect(await spanOf(collector, "tools/call rpc-error")).toMatchObject({
      status: 2,
      attributes: { "error.type": "-31999", "rpc.response.status_code": "-31999" },
    });
    expect(await until(() => collector.spans.find((span) => span.name === "start gone"))).toMatchObject({
      status: 2,
      attributes: { "error.type": expect.stringMatching(/^[A-Z_]+$/) },
    });
  });

  test("FAULT J: no argument, result, secret or address of the configuration is in a span", async () => {
    await using collector = await startTraceCollector();
    const canary = "CANARY-5eCr3t-value";
    const server = { ...badServer(), env: { TOKEN: canary } };
    const headers = `authorization=Bearer%20${canary}-of-the-collector`;
    await using gateway = await startUp({
      config: { mcpServers: { local: server, remote: { url: remote.url, headers: { "X-Key": `${canary}-2` } } } },
      env: tracingTo(collector, { OTEL_EXPORTER_OTLP_HEADERS: headers }),
    });
    await execute(gateway, "local:echo", modern, { text: "an argument that nobody sees" });
    await execute(gateway, "remote:echo", modern, { text: "an argument that nobody sees" });
    await spanOf(collector, "tools/call local:echo");
    await spanOf(collector, "tools/call remote:echo");
    const all = Buffer.concat(collector.bytes).toString("latin1");
    for (const hidden of [canary, "an argument", "Bearer"]) expect(all).not.toContain(hidden);
    expect(collector.exports[0]?.headers["authorization"]).toBe(`Bearer ${canary}-of-the-collector`);
  });

  test("a call over REST is in the trace of its headers", async () => {
    const { collector, traced: gateway } = shared;
    const headers = { "content-type": "application/json", traceparent };
    await until(async () => (await send(`${gateway.url}/execute/local:meta`, { headers, body: "{}" })).status === 200);
    const own = await spanOf(collector, "tools/call local:meta");
    expect(own.parentSpanId).toBe(parentSpanId);
  });

  test("a parent that is not recorded is not recorded here either, but is told on", async () => {
    const { collector, traced: gateway } = shared;
    // Spans of the trace of other tests may still come.
    const unrecorded = traceId.replace("0af7", "2af7");
    const meta = { traceparent: `00-${unrecorded}-${parentSpanId}-00` };
    const silent = await seen(gateway, "local:meta", { era: "modern", meta });
    expect(silent["traceparent"]).toMatch(new RegExp(`^00-${unrecorded}-[0-9a-f]{16}-00$`));
    await execute(gateway, "local:echo", { era: "modern" });
    await until(() => collector.spans.find((span) => span.name === "tools/call local:echo"));
    expect(collector.spans.filter((span) => span.traceId === unrecorded)).toEqual([]);
  });

  test("what waits is sent when the gateway ends", async () => {
    await using collector = await startTraceCollector();
    const slowly = tracingTo(collector, { OTEL_BSP_SCHEDULE_DELAY: "600000" });
    const gateway = await startGateway({ config: config(), env: slowly });
    await execute(gateway, "local:echo", modern);
    expect(collector.spans).toEqual([]);
    await gateway.stop();
    expect(collector.spans.map(({ name }) => name)).toContain("tools/call local:echo");
    await gateway[Symbol.asyncDispose]();
  });

  test("JSON, gzip, the path for traces, the name and the resource are as the variables say", async () => {
    await using collector = await startTraceCollector();
    await using gateway = await startUp({
      config: config(),
      env: {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
        OTEL_BSP_SCHEDULE_DELAY: "50",
        OTEL_SERVICE_NAME: "yard",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test%20one,service.name=other",
      },
    });
    await execute(gateway, "local:echo", modern);
    const span = await spanOf(collector, "tools/call local:echo");
    expect(span).toMatchObject({ parentSpanId, kind: spanKind.server });
    expect(span.resource).toMatchObject({ "service.name": "yard", "deployment.environment.name": "test one" });
    expect(collector.exports[0]).toMatchObject({
      path: "/own/path",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
  });

  test("a collector that refuses, or is not there, disturbs no call and is logged without its credentials", async () => {
    await using refusing = await startTraceCollector(401);
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=CANARY-of-the-collector" };
    await using gateway = await startUp({ config: config(), env: tracingTo(refusing, headers) });
    expect((await execute(gateway, "local:echo", modern)).text).toContain('"content"');
    await until(() => gateway.stderr().includes("traces could not be sent"));
    expect((await execute(gateway, "local:echo", modern)).text).toContain('"content"');
    expect(gateway.stderr()).not.toContain("CANARY");
  });
});

describe("a gateway that nobody asked for traces", () => {
  function recorded(
    name: string,
    options: GatewayOptions,
  ): { options: GatewayOptions; loaded: () => readonly string[] } {
    const list = join(folder, name);
    const recorder = pathToFileURL(join(import.meta.dirname, "../harness/record-modules.mjs")).href;
    const env = { ...options.env, NODE_OPTIONS: `--import ${recorder}`, LOADED_MODULES: list };
    const loaded = (): readonly string[] => (existsSync(list) ? readFileSync(list, "utf8").split("\n") : []);
    return { options: { ...options, env }, loaded };
  }

  const isTraces = (url: string): boolean => /\/traces-[^/]*\.js|opentelemetry/.test(url);

  test.each([
    ["no variables", {}],
    ["OTEL_TRACES_EXPORTER=none", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_TRACES_EXPORTER: "none" }],
    ["OTEL_SDK_DISABLED", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_SDK_DISABLED: "true" }],
  ])("loads nothing of OpenTelemetry, and passes trace context on unchanged: %s", async (name, env) => {
    const { options, loaded } = recorded(`off-${name.replaceAll(/\W/g, "")}`, { config: config(), env });
    await using gateway = await startUp(options);
    const meta = { traceparent, tracestate: "vendor=1", baggage: "k=v" };
    expect(await seen(gateway, "local:meta", { era: "modern", meta })).toMatchObject(meta);
    expect(await seen(gateway, "remote:headers", { era: "legacy", meta })).toMatchObject(meta);
    await send(`${gateway.url}/metrics`, { method: "GET" });
    expect(loaded().some((url) => url.includes("connect-http"))).toBe(true);
    expect(loaded().filter(isTraces)).toEqual([]);
  });

  test("with a collector, it is loaded", async () => {
    await using collector = await startTraceCollector();
    const { options, loaded } = recorded("on", { config: config(), env: tracingTo(collector) });
    await using gateway = await startGateway(options);
    expect(gateway.url).toContain("http");
    expect(loaded().filter(isTraces)).not.toEqual([]);
  });
});
