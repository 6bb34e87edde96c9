import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Era } from "../../../../kernel/call/call-context.ts";
import type { UpstreamRequest } from "../../connection.ts";
import { connectHttpWith, type HttpOptions } from "../../remote/connect-http.ts";
import { httpTuning } from "../../../../wire/http/tuning.ts";
import { createLargeBuffers } from "../../../../wire/json/large-buffers.ts";

/** A busy machine may take its time; only who waits for a server that says nothing has to be quick. */
const tuning = {
  ...httpTuning,
  connectRetryDelaysMs: [10],
  discoverTimeoutMs: 100_000,
  initializeTimeoutMs: 100_000,
  disposeTimeoutMs: 500,
};

type Discover = (response: ServerResponse, id: unknown) => unknown;
const rpcError = (code: number, data?: unknown) => (id: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "no", data } });
const refuse =
  (status: number, body: (id: unknown) => string = () => ""): Discover =>
  (response, id) =>
    response.writeHead(status, { "content-type": "application/json" }).end(body(id));

test.each<[string, Discover]>([
  ["400 and no session id", refuse(400, rpcError(-32000))],
  ["400 without a body", refuse(400)],
  ["404", refuse(404, () => "<html>")],
  ["405", refuse(405)],
  ["500", refuse(500, rpcError(-32603))],
  ["invalid params", refuse(400, rpcError(-32602))],
  ["method not found with 200", refuse(200, rpcError(-32601))],
  ["an error without an id", refuse(400, () => `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}`)],
  ["a result that is none", (response, id) => answer(response, id, { hello: 1 })],
  ["a page", refuse(200, () => "<html>")],
  ["a closed socket", (response) => response.destroy()],
])("a server that answers server/discover with %s is initialized", async (_name, discover) => {
  const server = await serve({ discover });
  const connection = await connect(server.url);
  expect(connection.peer).toMatchObject({
    era: "legacy",
    revision: "2025-06-18",
    eras: ["legacy"],
    serverInfo: { name: "old" },
  });
  await connection.request(call());
  expect(server.seen.map(({ method }) => method)).toEqual([
    "server/discover",
    "initialize",
    "notifications/initialized",
    "tools/call",
  ]);
  expect(server.seen[3]?.headers).toMatchObject({ "mcp-session-id": "s1", "mcp-protocol-version": "2025-06-18" });
  expect(server.seen[3]?.headers["mcp-method"]).toBeUndefined();
});

test("a server that says nothing to server/discover is initialized", async () => {
  const server = await serve({ discover: () => undefined });
  const connection = await connect(server.url, undefined, { discoverTimeoutMs: 100 });
  expect(connection.peer).toMatchObject({ era: "legacy", eras: ["legacy"] });
  expect(server.seen.map(({ method }) => method)).toContain("initialize");
});

test.each([-32020, -32021, -32022])("error %i proves a modern server, which is not initialized", async (code) => {
  const server = await serve({ discover: refuse(400, rpcError(code, { supported: ["2027-01-01"] })) });
  await expect(connect(server.url)).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL", data: { code } });
  expect(server.seen.map(({ method }) => method)).toEqual(["server/discover"]);
});

test("-32022 that names a legacy revision leads to initialize", async () => {
  const server = await serve({ discover: refuse(400, rpcError(-32022, { supported: ["2025-11-25"] })) });
  expect((await connect(server.url)).peer.era).toBe("legacy");
});

test("a login that server/discover asks for is not taken for a legacy server", async () => {
  const challenge = { "www-authenticate": 'Bearer resource_metadata="https://auth.example/metadata"' };
  const server = await serve({ discover: (response) => response.writeHead(401, challenge).end() });
  await expect(connect(server.url)).rejects.toMatchObject({ code: "SERVER_NEEDS_LOGIN" });
  expect(server.seen).toHaveLength(1);
});

test("a server known as legacy is initialized at once", async () => {
  const server = await serve({});
  const connection = await connect(server.url, ["legacy"]);
  expect(connection.peer.era).toBe("legacy");
  expect(server.seen[0]?.method).toBe("initialize");
});

test("a server known as legacy that is modern now is asked anew", async () => {
  const server = await serve({ discover: discovered, initialize: refuse(400, rpcError(-32022)) });
  expect((await connect(server.url, ["legacy"])).peer).toMatchObject({ era: "modern", eras: ["modern"] });
});

test("a server of both eras is spoken to in the caller's: one session, made when it is first needed", async () => {
  const server = await serve({ discover: discovered });
  const connection = await connect(server.url);
  expect(connection.peer).toMatchObject({ era: "modern", eras: ["modern"] });
  await connection.request(call());
  expect(server.seen.map(({ method }) => method)).toEqual(["server/discover", "tools/call"]);
  await Promise.all([1, 2, 3].map(() => connection.request(call({ era: "legacy" }))));
  await connection.request(call({ era: "modern" }));
  expect(connection.peer).toMatchObject({ era: "modern", eras: ["modern", "legacy"] });
  const methods = server.seen
    .slice(2)
    .map(({ method, headers }) => `${method} ${String(headers["mcp-protocol-version"])}`);
  expect(methods.filter((text) => text.startsWith("initialize"))).toHaveLength(1);
  expect(methods.slice(2).toSorted()).toEqual([
    "tools/call 2025-06-18",
    "tools/call 2025-06-18",
    "tools/call 2025-06-18",
    "tools/call 2026-07-28",
  ]);
});

test("a modern server without sessions is spoken to as such by legacy callers too", async () => {
  const server = await serve({ discover: discovered, initialize: refuse(400, rpcError(-32022)) });
  const connection = await connect(server.url);
  for (const _ of [1, 2]) expect((await connection.request(call({ era: "legacy" }))).kind).toBe("result");
  expect(server.seen.map(({ method }) => method)).toEqual([
    "server/discover",
    "initialize",
    "tools/call",
    "tools/call",
  ]);
});

test("a verdict that turns out wrong is made again once, and the request goes on", async () => {
  let isModern = true;
  const server = await serve({
    discover: (response, id) => (isModern ? discovered(response, id) : refuse(400, rpcError(-32000))(response, id)),
    call: (response, id, headers) =>
      headers["mcp-session-id"] === undefined ? refuse(400, rpcError(-32000))(response, id) : answer(response, id, {}),
  });
  const connection = await connect(server.url);
  isModern = false;
  expect((await connection.request(call())).kind).toBe("result");
  expect(connection.peer.era).toBe("legacy");
  expect((await connection.request(call())).kind).toBe("result");
  expect(server.seen.filter(({ method }) => method === "initialize")).toHaveLength(1);
});

test("a modern server's odd refusal stands when it is still a modern server", async () => {
  const server = await serve({ discover: discovered, call: refuse(400, rpcError(-32000)) });
  const connection = await connect(server.url);
  for (const _ of [1, 2]) expect((await connection.request(call())).kind).toBe("error");
  expect(server.seen.map(({ method }) => method)).toEqual([
    "server/discover",
    "tools/call",
    "server/discover",
    "tools/call",
  ]);
});

test("a URL that speaks neither fails with what it said, and an aborted attempt with its reason", async () => {
  const server = await serve({ discover: refuse(404), initialize: refuse(404) });
  await expect(connect(server.url)).rejects.toMatchObject({ code: "UPSTREAM_HTTP", data: { status: 404 } });
  const hanging = await serve({ discover: () => undefined });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(connect(hanging.url, undefined, { signal })).rejects.toThrow("enough");
});

interface Behaviour {
  readonly discover?: Discover;
  readonly initialize?: Discover;
  readonly call?: (response: ServerResponse, id: unknown, headers: IncomingHttpHeaders) => unknown;
}

function discovered(response: ServerResponse, id: unknown): void {
  answer(response, id, { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
}

function initialized(response: ServerResponse, id: unknown): void {
  response.setHeader("mcp-session-id", "s1");
  answer(response, id, { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "old", version: "1" } });
}

function answer(response: ServerResponse, id: unknown, result: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

async function serve(behaviour: Behaviour) {
  const seen: Array<{ method: string; headers: IncomingHttpHeaders }> = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: unknown; method: string };
    seen.push({ method, headers: request.headers });
    if (id === undefined) return response.writeHead(202).end();
    if (method === "server/discover") return (behaviour.discover ?? refuse(400))(response, id);
    if (method === "initialize") return (behaviour.initialize ?? initialized)(response, id);
    return (behaviour.call ?? ((to, which) => answer(to, which, {})))(response, id, request.headers);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

interface Wanted extends Partial<typeof tuning> {
  readonly signal?: AbortSignal;
}

async function connect(url: string, knownEras?: readonly Era[], { signal, ...times }: Wanted = {}) {
  const ignore = () => undefined;
  const options: HttpOptions = {
    server: "odd",
    transport: { kind: "http", url, headers: {} },
    identity: { name: "toolyard", version: "0.0.0" },
    limits: { messageBytes: 1 << 20, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
    knownEras,
    memory: createLargeBuffers(),
    events: { onNotification: ignore, onStderr: ignore, onOddity: ignore },
    authorize: undefined,
  };
  const connection = await connectHttpWith({ ...tuning, ...times }, options, signal ?? AbortSignal.timeout(110_000));
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return connection;
}

function call(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: "tools/call",
    params: [["name", Buffer.from(`"echo"`)]],
    signal: new AbortController().signal,
    timeoutMs: 110_000,
    maxTimeoutMs: 110_000,
    nameHeader: "echo",
    ...changes,
  };
}
