import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import type { Connection, UpstreamRequest } from "../../connection.ts";
import { connectHttpWith, type HttpOptions } from "../../remote/connect-http.ts";
import { httpTuning, type HttpTuning } from "../../../../wire/http/tuning.ts";
import { createLargeBuffers } from "../../../../wire/json/large-buffers.ts";
import { untilPasses } from "../../../../../test/harness/until-passes.ts";

const tuning: HttpTuning = {
  ...httpTuning,
  connectRetryDelaysMs: [10, 10, 10],
  afterAnswerMs: 50,
  disposeTimeoutMs: 500,
};

test("a modern request carries its headers and _meta, and its result comes back as it was written", async () => {
  const server = await serve((received, response) =>
    answer(response, received.body?.id, `{"n":9007199254740993,"z":-0,"a":1e400}`),
  );
  const { connection } = await connect(server.url);
  const onSent = vi.fn<() => void>();
  const reply = await connection.request(call({ nameHeader: "näme", headers: [["Region", "eu"]], onSent }));
  expect(reply).toMatchObject({ kind: "result" });
  expect(textOf(reply)).toBe(`{"n":9007199254740993,"z":-0,"a":1e400}`);
  expect(onSent).toHaveBeenCalledOnce();
  expect(server.calls[0]?.headers).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "=?base64?bsOkbWU=?=",
    "mcp-param-region": "eu",
    accept: "application/json, text/event-stream",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "toolyard/0.0.0",
  });
  expect(server.calls[0]?.body).toMatchObject({
    params: { name: "echo", _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
  });
});

test("a configured Host stands in place of the URL's", async () => {
  const server = await serve((received, response) => answer(response, received.body?.id, "{}"));
  for (const headers of [{}, { Host: "inner.example" }]) {
    const { connection } = await connect(server.url, { headers });
    await connection.request(call());
  }
  const hosts = server.calls.map(({ headers }) => headers.host);
  expect(hosts).toEqual([new URL(server.url).host, "inner.example"]);
});

test("FAULT 46: no argument value can break out of its header", async () => {
  const server = await serve((received, response) => answer(response, received.body?.id, "{}"));
  const { connection } = await connect(server.url);
  await connection.request(
    call({
      nameHeader: "a\r\nX-Evil: 1",
      headers: [
        ["Q", "b\r\nX-Evil: 2"],
        ["bad name", "x"],
        ["S", "=?base64?x?="],
      ],
    }),
  );
  expect(server.calls[0]?.headers["x-evil"]).toBeUndefined();
  expect(server.calls[0]?.headers).toMatchObject({
    "mcp-name": "=?base64?YQ0KWC1FdmlsOiAx?=",
    "mcp-param-s": "=?base64?PT9iYXNlNjQ/eD89?=",
  });
});

test("an event stream brings progress, log and the answer", async () => {
  const server = await serve((received, response) => {
    const id = received.body?.id;
    startStream(response);
    response.write(": hello\r\n\r\n");
    sendEvent(response, {
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: id, progress: 1 },
    });
    sendEvent(response, { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } });
    sendEvent(response, { jsonrpc: "2.0", id, result: { ok: true } });
    response.end();
  });
  const { connection } = await connect(server.url);
  const onProgress = vi.fn<(params: unknown) => void>();
  const onLog = vi.fn<(params: unknown) => void>();
  const reply = await connection.request(call({ onProgress, onLog }));
  expect(textOf(reply)).toBe(`{"ok":true}`);
  expect(onProgress).toHaveBeenCalledWith({ progress: 1 });
  expect(onLog).toHaveBeenCalledWith({ level: "info", data: "x" });
});

test("FAULT 67: a second answer on the stream is dropped and counted, and a stream left open is closed", async () => {
  const closed: Promise<unknown>[] = [];
  const server = await serve((received, response) => {
    closed.push(once(response, "close"));
    startStream(response);
    sendEvent(response, { jsonrpc: "2.0", id: received.body?.id, result: { n: 1 } });
    sendEvent(response, { jsonrpc: "2.0", id: received.body?.id, result: { n: 2 } });
  });
  const { connection, oddities } = await connect(server.url);
  expect(textOf(await connection.request(call()))).toBe(`{"n":1}`);
  await untilPasses(() => expect(oddities).toContain("second-answer"));
  await Promise.all(closed);
});

test("FAULT 68: an answer to another request never settles one", async () => {
  const held: Array<() => void> = [];
  const server = await serve((received, response) => {
    const id = Number(received.body?.id);
    if (id === 1) held.push(() => answer(response, 1, `{"n":1}`));
    else answer(response, 1, `{"n":"stolen"}`);
  });
  const { connection, oddities } = await connect(server.url);
  const first = connection.request(call());
  await untilPasses(() => expect(held).toHaveLength(1));
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL" });
  expect(oddities).toEqual(["unknown-id"]);
  held[0]?.();
  expect(textOf(await first)).toBe(`{"n":1}`);
});

test("a stream that ends without an answer fails its request at once", async () => {
  const server = await serve((_received, response) => {
    startStream(response);
    response.end();
  });
  const { connection } = await connect(server.url);
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
});

test.each(["json", "stream"])(
  "FAULT 43: a message over the limit (%s) is an error that names it, and its connection is closed",
  async (form) => {
    const server = await serve((received, response) => {
      const text = `{"jsonrpc":"2.0","id":${String(received.body?.id)},"result":{"x":"${"x".repeat(5_000)}"}}`;
      if (form === "json") {
        response.setHeader("content-type", "application/json");
        response.write(text);
      } else {
        startStream(response);
        response.write(`data: ${text}`);
      }
    });
    const { connection } = await connect(server.url, {
      limits: { messageBytes: 4_000, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
    });
    await expect(connection.request(call())).rejects.toMatchObject({
      code: "RESULT_TOO_LARGE",
      data: { limitBytes: 4_000 },
    });
    await untilPasses(() => expect(server.openCalls()).toBe(0));
  },
);

test("FAULT 19: an answer with a Content-Encoding is refused unread", async () => {
  const server = await serve((_received, response) =>
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("x"),
  );
  const { connection } = await connect(server.url);
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL" });
});

test.each([200, 400, 404, 500])("a JSON-RPC error is the reply, with HTTP %i", async (status) => {
  const server = await serve((received, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id: received.body?.id, error: { code: -32020, message: "mismatch" } }),
    );
  });
  const { connection } = await connect(server.url);
  const reply = await connection.request(call());
  expect(reply.kind).toBe("error");
  expect(textOf(reply)).toBe(`{"code":-32020,"message":"mismatch"}`);
});

test.each([
  [500, "text/plain", "oops", "UPSTREAM_HTTP"],
  [502, "application/json", `{"error":"bad gateway"}`, "UPSTREAM_HTTP"],
  [403, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x"}}`, "UPSTREAM_HTTP"],
  [429, "text/plain", "", "UPSTREAM_BUSY"],
  [200, "text/html", "<html>", "UPSTREAM_PROTOCOL"],
  [200, "application/json", `{"jsonrpc":"2.0","id":1,"res`, "UPSTREAM_PROTOCOL"],
  [202, "application/json", "", "UPSTREAM_PROTOCOL"],
  [500, "text/plain", "x".repeat(200_000), "UPSTREAM_HTTP"],
] as const)("HTTP %i with %s is a failure of ours: %#", async (status, type, body, code) => {
  const server = await serve((_received, response) => response.writeHead(status, { "content-type": type }).end(body));
  const { connection } = await connect(server.url);
  await expect(connection.request(call())).rejects.toMatchObject({ code });
});

test("FAULT 105: a 401 is met once with fresh credentials, then it is a login that is needed", async () => {
  const server = await serve((received, response) => {
    if (received.headers.authorization === "Bearer good") answer(response, received.body?.id, "{}");
    else
      response
        .writeHead(401, {
          "www-authenticate": `Bearer resource_metadata="http://a/b", scope="x y", error="invalid_token"`,
        })
        .end();
  });
  const refused: (string | undefined)[] = [];
  let token = "old";
  const { connection } = await connect(server.url, {
    authorize: async (before) => {
      refused.push(before?.["authorization"]);
      if (before !== undefined && token === "old") token = "good";
      return { authorization: `Bearer ${token}` };
    },
  });
  await connection.request(call());
  expect(refused.filter((login) => login !== undefined)).toEqual(["Bearer old"]);
  token = "bad";
  const before = server.calls.length;
  const failure = await failureOf(connection.request(call()));
  expect(failure).toMatchObject({
    code: "SERVER_NEEDS_LOGIN",
    data: { status: 401, challenge: { resource_metadata: "http://a/b", scope: "x y", error: "invalid_token" } },
  });
  expect(server.calls.length - before).toBe(2);
});

test("a 401 without a login to refresh needs one, and so does a scope that is missing", async () => {
  let header = `Bearer scope="a"`;
  let status = 401;
  const server = await serve((_received, response) => response.writeHead(status, { "www-authenticate": header }).end());
  const { connection } = await connect(server.url);
  await expect(connection.request(call())).rejects.toMatchObject({ code: "SERVER_NEEDS_LOGIN" });
  status = 403;
  header = `Bearer error="insufficient_scope", scope="b"`;
  await expect(connection.request(call())).rejects.toMatchObject({
    code: "SERVER_NEEDS_LOGIN",
    data: { challenge: { scope: "b" } },
  });
  header = `Bearer error="other"`;
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_HTTP" });
});

test("FAULT 103: redirects are not followed, so no credential reaches another host", async () => {
  const other = await serve((_received, response) => response.end());
  const server = await serve((_received, response) =>
    response.writeHead(307, { location: `${other.url}?token=1` }).end(),
  );
  const { connection } = await connect(server.url, { headers: { Authorization: "Bearer secret" } });
  const failure = await failureOf(connection.request(call()));
  expect(failure.code).toBe("CONNECT_FAILED");
  expect(failure.message).toContain(new URL(other.url).origin);
  expect(failure.message).not.toContain("token");
  expect(other.calls).toHaveLength(0);
});

test("a redirect to the same path with a slash is followed once, and then says so", async () => {
  const server = await serve((_received, response) => response.writeHead(307, { location: "/mcp/" }).end());
  const { connection } = await connect(server.url);
  expect((await failureOf(connection.request(call()))).message).toContain("its own URL with a slash at the end");
  expect(server.calls).toHaveLength(2);
});

test("user and password of the URL become Basic and are in no message", async () => {
  const server = await serve((received, response) => {
    if (received.headers.authorization === `Basic ${Buffer.from("me:p@ss").toString("base64")}`)
      response.writeHead(500).end();
    else answer(response, received.body?.id, "{}");
  });
  const { connection } = await connect(server.url.replace("http://", "http://me:p%40ss@").concat("?key=hush"));
  const failure = await failureOf(connection.request(call()));
  expect(failure.code).toBe("UPSTREAM_HTTP");
  expect(JSON.stringify([failure.message, failure.data])).not.toMatch(/p@ss|p%40ss|hush/);
});

test("a connection that is refused is tried again while nothing was sent, then the connection is lost", async () => {
  const server = await serve((received, response) => answer(response, received.body?.id, "{}"));
  const { connection } = await connect(server.url);
  const port = await server.stop();
  const onSent = vi.fn<() => void>();
  await expect(connection.request(call({ onSent }))).rejects.toMatchObject({
    code: "CONNECT_FAILED",
    data: { code: "ECONNREFUSED" },
  });
  expect(onSent).not.toHaveBeenCalled();
  await expect(connection.closed).resolves.toMatchObject({ kind: "lost" });
  await server.startAgain(port);
  expect((await connection.request(call())).kind).toBe("result");
});

test("a server that comes back between two tries gets the request once", async () => {
  const server = await serve((received, response) => answer(response, received.body?.id, "{}"));
  const port = await server.stop();
  const { connection } = await connect(server.url, {
    tuning: { ...tuning, connectRetryDelaysMs: Array.from({ length: 500 }, () => 10) },
    start: () => server.startAgain(port),
  });
  expect((await connection.request(call())).kind).toBe("result");
  expect(server.calls).toHaveLength(1);
});

test("dispose does not wait for the next try to connect", async () => {
  const server = await serve((received, response) => answer(response, received.body?.id, "{}"));
  const { connection } = await connect(server.url, { tuning: { ...tuning, connectRetryDelaysMs: [60_000] } });
  await server.stop();
  const pending = failureOf(connection.request(call()));
  await connection[Symbol.asyncDispose]();
  expect(await pending).toMatchObject({ code: "UPSTREAM_CLOSED" });
});

test("a connection that is reset after sending is not tried again", async () => {
  const server = await serve((_received, response) => response.destroy());
  const { connection } = await connect(server.url);
  const onSent = vi.fn<() => void>();
  await expect(connection.request(call({ onSent }))).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
  expect(onSent).toHaveBeenCalledOnce();
  expect(server.calls).toHaveLength(1);
});

test("a modern cancellation closes the request's own stream", async () => {
  const closed: Promise<unknown>[] = [];
  const server = await serve((_received, response) => {
    closed.push(once(response, "close"));
    startStream(response);
  });
  const { connection } = await connect(server.url);
  const controller = new AbortController();
  const pending = connection.request(call({ signal: controller.signal }));
  await untilPasses(() => expect(closed).toHaveLength(1));
  expect(connection.inFlight).toBe(1);
  controller.abort();
  await expect(pending).rejects.toMatchObject({ code: "CALL_CANCELLED" });
  await closed[0];
  expect(connection.inFlight).toBe(0);
  expect(server.calls).toHaveLength(1);
});

test("FAULT 66: a server that never answers gets its stream closed at the limit", async () => {
  const closed: Promise<unknown>[] = [];
  const server = await serve((_received, response) => void closed.push(once(response, "close")));
  const { connection } = await connect(server.url);
  await expect(connection.request(call({ timeoutMs: 50 }))).rejects.toMatchObject({ code: "UPSTREAM_TIMEOUT" });
  await closed[0];
});

test("a subscription may last for ever, and its notifications go to the instance", async () => {
  const streams: ServerResponse[] = [];
  const server = await serve((received, response) => {
    if (received.body?.method !== "subscriptions/listen") return answer(response, received.body?.id, "{}");
    startStream(response);
    streams.push(response);
  });
  const { connection, notifications } = await connect(server.url);
  const controller = new AbortController();
  const pending = connection.request(
    call({ method: "subscriptions/listen", signal: controller.signal, timeoutMs: Infinity, maxTimeoutMs: Infinity }),
  );
  await untilPasses(() => expect(streams).toHaveLength(1));
  sendEvent(streams[0] as ServerResponse, { jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await untilPasses(() => expect(notifications).toEqual(["notifications/tools/list_changed"]));
  controller.abort();
  await expect(pending).rejects.toMatchObject({ code: "CALL_CANCELLED" });
});

test("FAULT 84: a modern server's own request is refused and not answered", async () => {
  const server = await serve((received, response) => {
    startStream(response);
    sendEvent(response, { jsonrpc: "2.0", id: "q", method: "elicitation/create", params: {} });
    sendEvent(response, { jsonrpc: "2.0", id: received.body?.id, result: {} });
    response.end();
  });
  const { connection, oddities } = await connect(server.url);
  const ask = vi.fn<NonNullable<UpstreamRequest["ask"]>>();
  await connection.request(call({ ask }));
  await untilPasses(() => expect(oddities).toEqual(["request-refused"]));
  expect(ask).not.toHaveBeenCalled();
  expect(server.calls).toHaveLength(1);
});

test("dispose ends everything, though the server hangs", async () => {
  const server = await serve(() => undefined);
  const { connection } = await connect(server.url);
  const pending = failureOf(connection.request(call()));
  await untilPasses(() => expect(server.calls).toHaveLength(1));
  await connection[Symbol.asyncDispose]();
  await connection[Symbol.asyncDispose]();
  expect(await pending).toMatchObject({ code: "UPSTREAM_CLOSED" });
  await expect(connection.closed).resolves.toEqual({ kind: "asked" });
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
  await untilPasses(() => expect(server.openCalls()).toBe(0));
});

test("FAULT 79: requests beyond the queue for a server that takes none are refused", async () => {
  const server = await serve(() => undefined);
  const { connection } = await connect(server.url, {
    tuning: { ...tuning, connections: 1 },
    limits: { messageBytes: 1 << 20, depth: 64, sendQueueBytes: 5_000, stopTimeoutMs: 100 },
  });
  const big = Buffer.from(JSON.stringify("x".repeat(3_000)));
  const send = () => failureOf(connection.request(call({ params: [["name", big]] })));
  const failures = [send()];
  await untilPasses(() => expect(server.calls).toHaveLength(1));
  failures.push(send(), send());
  expect(await failures[2]).toMatchObject({ code: "UPSTREAM_BUSY" });
  await connection[Symbol.asyncDispose]();
  expect((await Promise.all(failures)).map((failure) => failure.code)).toEqual([
    "UPSTREAM_CLOSED",
    "UPSTREAM_CLOSED",
    "UPSTREAM_BUSY",
  ]);
});

test("one hundred calls at once are all answered, each with its own", async () => {
  const server = await serve((received, response) =>
    answer(response, received.body?.id, JSON.stringify({ id: received.body?.id })),
  );
  const { connection } = await connect(server.url);
  const replies = await Promise.all(Array.from({ length: 100 }, () => connection.request(call())));
  expect(new Set(replies.map(textOf)).size).toBe(100);
});

interface Received {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly id?: unknown; readonly method?: string; readonly params?: unknown } | undefined;
}

/** A modern server whose answers to everything but server/discover the test gives. */
async function serve(handle: (received: Received, response: ServerResponse) => unknown) {
  const calls: Received[] = [];
  let open = 0;
  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as Received["body"]);
    const received = { method: request.method ?? "", headers: request.headers, body };
    if (body?.method === "server/discover") {
      answer(response, body.id, JSON.stringify({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }));
      return;
    }
    calls.push(received);
    open += 1;
    response.once("close", () => {
      open -= 1;
    });
    handle(received, response);
  };
  let server = await listen(onRequest, 0);
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    openCalls: () => open,
    async stop(): Promise<number> {
      const closed = once(server, "close");
      server.close().closeAllConnections();
      await closed;
      // Client and server are one process here: the end of its sockets is seen in the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      return port;
    },
    async startAgain(at: number): Promise<void> {
      server = await listen(onRequest, at);
    },
  };
}

async function listen(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  port: number,
): Promise<Server> {
  const server = createServer(onRequest).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

type Options = Partial<Pick<HttpOptions, "limits" | "authorize" | "knownEras">> & {
  readonly headers?: Record<string, string>;
  readonly tuning?: HttpTuning;
  readonly start?: () => Promise<void>;
};

async function connect(url: string, options: Options = {}) {
  const oddities: string[] = [];
  const notifications: string[] = [];
  const connecting = connectHttpWith(
    options.tuning ?? tuning,
    {
      server: "odd",
      transport: { kind: "http", url, headers: options.headers ?? {} },
      identity: { name: "toolyard", version: "0.0.0" },
      limits: options.limits ?? { messageBytes: 1 << 20, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
      knownEras: options.knownEras,
      memory: createLargeBuffers(),
      events: {
        onNotification: (method) => notifications.push(method),
        onStderr: () => undefined,
        onOddity: (kind) => oddities.push(kind),
      },
      authorize: options.authorize,
    },
    AbortSignal.timeout(20_000),
  );
  await options.start?.();
  const connection = await connecting;
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return { connection, oddities, notifications } satisfies { connection: Connection; [key: string]: unknown };
}

function call(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: "tools/call",
    params: [
      ["name", Buffer.from(`"echo"`)],
      ["arguments", Buffer.from("{}")],
    ],
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    maxTimeoutMs: 60_000,
    ...changes,
  };
}

function answer(response: ServerResponse, id: unknown, result: string): void {
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
}

function sendEvent(response: ServerResponse, message: unknown): void {
  response.write(`event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`);
}

function textOf(reply: Awaited<ReturnType<Connection["request"]>>): string {
  return (reply.kind === "result" ? reply.result : reply.error).toString();
}

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  return await promise.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error as GatewayError,
  );
}
