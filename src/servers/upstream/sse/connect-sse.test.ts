import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { UpstreamRequest } from "../connection.ts";
import { connectSse } from "./connect-sse.ts";
import { connectHttpWith } from "../remote/connect-http.ts";
import { httpTuning } from "../../../wire/http/tuning.ts";
import { createLargeBuffers } from "../../../wire/json/large-buffers.ts";
import { untilPasses } from "../../../../test/harness/until-passes.ts";

const tuning = {
  ...httpTuning,
  connections: 4,
  afterAnswerMs: 50,
  connectRetryDelaysMs: [10],
  disposeTimeoutMs: 500,
  initializeTimeoutMs: 2_000,
};

test("messages come on the stream, ours go to the endpoint that it named, with the configured headers", async () => {
  const server = await serve({ endpoint: "../post?session=1" });
  const { connection, notifications } = await connect(server.url("/a/sse"));
  expect(connection.peer).toMatchObject({ era: "legacy", revision: "2024-11-05" });
  server.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await untilPasses(() => expect(notifications).toEqual(["notifications/tools/list_changed"]));
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
  await connection.notify("notifications/roots/list_changed", {});
  expect(server.posts.map(({ method }) => method)).toEqual([
    "initialize",
    "notifications/initialized",
    "tools/call",
    "notifications/roots/list_changed",
  ]);
  expect(new Set(server.posts.map(({ path }) => path))).toEqual(new Set(["/post?session=1"]));
  expect(new Set(server.posts.map(({ key }) => key))).toEqual(new Set(["k"]));
});

test("FAULT 103: an endpoint on another origin is refused, and nothing is sent there", async () => {
  const other = await serve({});
  const server = await serve({ endpoint: other.url("/post") });
  await expect(connect(server.url("/sse"))).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL" });
  expect(other.posts).toEqual([]);
});

test("redirects to the same path without its last slash are followed, of the stream and of POSTs", async () => {
  for (const moved of [301, 302, 307, 308]) {
    const server = await serve({ moved, endpoint: "/post?session=1" });
    const { connection } = await connect(server.url("/sse/"));
    expect(await connection.request(call())).toMatchObject({ kind: "result" });
  }
  const server = await serve({ moved: 308, endpoint: "/post/?session=1" });
  const { connection } = await connect(server.url("/sse/"));
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
  expect(new Set(server.posts.map(({ path }) => path))).toEqual(new Set(["/post?session=1"]));
  expect(server.redirected()).toEqual(["GET /sse/", "POST /post/?session=1"]);
  const other = await serve({ moved: 302, endpoint: "/post/" });
  await expect(connect(other.url("/sse/"))).rejects.toMatchObject({ code: "CONNECT_FAILED", data: { status: 302 } });
});

test("what is no message is skipped, and an array of messages is read", async () => {
  const server = await serve({ answers: ["initialize"] });
  const { connection, notifications } = await connect(server.url("/sse"));
  const pending = connection.request(call());
  await untilPasses(() => expect(server.posts).toHaveLength(3));
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: null };
  for (const id of [1, 2, "2"]) server.send({ level: 30, id, msg: "job fetched" });
  server.send([changed, 7, { jsonrpc: "2.0", id: 2, result: null, error: "used up" }]);
  expect(await pending).toEqual({ kind: "error", error: Buffer.from('"used up"') });
  expect(notifications).toEqual(["notifications/tools/list_changed"]);
});

test("the end of the stream ends the connection and every request on it", async () => {
  const server = await serve({ answers: ["initialize"] });
  const { connection } = await connect(server.url("/sse"));
  const pending = connection.request(call());
  await untilPasses(() => expect(server.posts).toHaveLength(3));
  server.end();
  await expect(pending).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
  await expect(connection.closed).resolves.toMatchObject({ kind: "lost" });
  expect(connection.inFlight).toBe(0);
});

test("a POST that is refused fails its request only", async () => {
  const server = await serve({});
  const { connection } = await connect(server.url("/sse"));
  server.refusePosts(503);
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_HTTP", data: { status: 503 } });
  server.refusePosts(401);
  await expect(connection.request(call())).rejects.toMatchObject({ code: "SERVER_NEEDS_LOGIN" });
  server.refusePosts(202);
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
});

test("FAULT 70: a message over the limit ends the stream", async () => {
  const server = await serve({ answers: ["initialize"] });
  const { connection } = await connect(server.url("/sse"));
  const pending = connection.request(call());
  await untilPasses(() => expect(server.posts).toHaveLength(3));
  server.send({ big: "x".repeat(200_000) });
  await expect(pending).rejects.toMatchObject({ code: "RESULT_TOO_LARGE" });
  await expect(connection.closed).resolves.toMatchObject({ kind: "lost" });
});

test("FAULT 66: a cancelled request is cancelled at the server", async () => {
  const server = await serve({ answers: ["initialize"] });
  const { connection } = await connect(server.url("/sse"));
  await expect(connection.request(call({ timeoutMs: 30 }))).rejects.toMatchObject({ code: "UPSTREAM_TIMEOUT" });
  await untilPasses(() => expect(server.posts.at(-1)?.method).toBe("notifications/cancelled"));
});

test("a server that never names its endpoint is given up with the attempt", async () => {
  const server = await serve({ endpoint: null });
  const controller = new AbortController();
  const pending = connect(server.url("/sse"), controller.signal);
  await untilPasses(() => expect(server.streams()).toBe(1));
  controller.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
  await untilPasses(() => expect(server.streams()).toBe(0));
});

test("a server that leaves the responses to POSTs open takes any number of them", async () => {
  const server = await serve({ leavesPostsOpen: true });
  const { connection } = await connect(server.url("/sse"));
  const replies = await Promise.all(Array.from({ length: 20 }, () => connection.request(call())));
  expect(replies.every(({ kind }) => kind === "result")).toBe(true);
});

test("a URL without an event stream says which HTTP status it gave", async () => {
  const server = await serve({});
  await expect(connect(server.url("/none"))).rejects.toMatchObject({ code: "UPSTREAM_HTTP", data: { status: 404 } });
});

test("dispose closes the stream", async () => {
  const server = await serve({});
  const { connection } = await connect(server.url("/sse"));
  await connection[Symbol.asyncDispose]();
  await expect(connection.closed).resolves.toEqual({ kind: "asked" });
  await untilPasses(() => expect(server.streams()).toBe(0));
});

interface Behaviour {
  /** What the stream names; null for nothing. */
  readonly endpoint?: string | null;
  /** Methods that are answered; default all. */
  readonly answers?: readonly string[];
  readonly leavesPostsOpen?: boolean;
  /** The status with which requests to a path with a slash at its end are redirected to the one without. */
  readonly moved?: number;
}

async function serve({ endpoint = "/post", answers, leavesPostsOpen = false, moved }: Behaviour) {
  const posts: Array<{ method: string; path: string; key: unknown }> = [];
  const streams = new Set<ServerResponse>();
  const redirected: string[] = [];
  let status = 202;
  const send = (message: unknown) => {
    for (const stream of streams) stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, path, query] = /^(.*)\/(\?.*)?$/.exec(request.url ?? "") ?? [];
    if (moved !== undefined && path !== undefined) {
      redirected.push(`${request.method} ${request.url}`);
      return response.writeHead(moved, { location: `${path}${query ?? ""}` }).end();
    }
    if (request.method === "GET") {
      if (!request.url?.endsWith("/sse")) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      streams.add(response);
      response.once("close", () => streams.delete(response));
      return endpoint === null ? undefined : response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
    }
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: unknown; method: string };
    posts.push({ method, path: request.url ?? "", key: request.headers["x-key"] });
    response.writeHead(status).write("Accepted");
    if (!leavesPostsOpen) response.end();
    if (status !== 202 || id === undefined || answers?.includes(method) === false) return undefined;
    return send({
      jsonrpc: "2.0",
      id,
      result: method === "initialize" ? { protocolVersion: "2024-11-05", capabilities: {} } : {},
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return {
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    posts,
    send,
    streams: () => streams.size,
    redirected: () => redirected,
    end: () => streams.forEach((stream) => stream.end()),
    refusePosts(with_: number) {
      status = with_;
    },
  };
}

async function connect(url: string, signal: AbortSignal = AbortSignal.timeout(20_000)) {
  const notifications: string[] = [];
  const connection = await connectHttpWith(
    tuning,
    {
      server: "odd",
      transport: { kind: "sse", url, headers: { "X-Key": "k" } },
      identity: { name: "toolyard", version: "0.0.0" },
      limits: { messageBytes: 100_000, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
      knownEras: undefined,
      memory: createLargeBuffers(),
      events: {
        onNotification: (method) => notifications.push(method),
        onStderr: () => undefined,
        onOddity: () => undefined,
      },
      authorize: undefined,
    },
    signal,
    connectSse,
  );
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return { connection, notifications };
}

function call(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: "tools/call",
    params: [["name", Buffer.from(`"echo"`)]],
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    maxTimeoutMs: 60_000,
    ...changes,
  };
}
