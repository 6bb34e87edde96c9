import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Connection, UpstreamRequest } from "../../connection.ts";
import { connectHttpWith } from "../../remote/connect-http.ts";
import { httpTuning, type HttpTuning } from "../../../../wire/http/tuning.ts";
import { createLargeBuffers } from "../../../../wire/json/large-buffers.ts";
import { untilPasses } from "../../../../../test/harness/until-passes.ts";

const tuning: HttpTuning = { ...httpTuning, connectRetryDelaysMs: [10], resumeDelayMs: 10, disposeTimeoutMs: 500 };

test("the session's id is kept and sent, and DELETE ends it", async () => {
  const server = await serve({});
  const { connection } = await connect(server.url);
  await connection.request(call());
  await connection.notify("notifications/roots/list_changed", {});
  await connection[Symbol.asyncDispose]();
  await expect(connection.closed).resolves.toEqual({ kind: "asked" });
  const inSession = server.seen.filter(({ method }) => method !== "initialize");
  expect(new Set(inSession.map(({ headers }) => headers["mcp-session-id"]))).toEqual(new Set(["s1"]));
  expect(new Set(inSession.map(({ headers }) => headers["mcp-protocol-version"]))).toEqual(new Set(["2025-11-25"]));
  expect(server.seen.at(-1)?.method).toBe("DELETE");
});

test("a session that expired is replaced once for all who wait, and each request is sent once more", async () => {
  const server = await serve({});
  const { connection } = await connect(server.url);
  await connection.request(call());
  server.forget();
  const replies = await Promise.all(Array.from({ length: 20 }, () => connection.request(call())));
  expect(replies.every(({ kind }) => kind === "result")).toBe(true);
  expect(server.count("initialize")).toBe(2);
  expect(server.ran).toBe(21);
});

test.each([
  ["mean that it is gone, where a ping is refused alike: once", "every request", 3],
  ["are what the tool says, where a ping is answered", "calls", 2],
])("400 and -32000 in a session that worked, %s", async (_what, refused, sessions) => {
  let isBroken = false;
  const server = await serve({
    unknownStatus: 400,
    onCall: (response, message) =>
      isBroken && (refused === "every request" || message.method !== "ping")
        ? refuse(response, 400, message.id)
        : answer(response, message.id, {}),
  });
  const { connection } = await connect(server.url);
  await connection.request(call());
  server.forget();
  expect((await connection.request(call())).kind).toBe("result");
  isBroken = true;
  expect((await connection.request(call())).kind).toBe("error");
  expect((await connection.request(call())).kind).toBe("error");
  expect(server.count("initialize")).toBe(sessions);
});

test("a tool's own error is not run again, also where the session is replaced meanwhile", async () => {
  let failing: (() => void) | undefined;
  const server = await serve({
    onCall(response, message) {
      const isFirst = failing === undefined && server.ran === 2;
      if (!isFirst) return answer(response, message.id, {});
      failing = () => {
        const error = { code: -32_000, message: "Session not found" };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
      };
      return undefined;
    },
  });
  const { connection } = await connect(server.url);
  await connection.request(call());
  const slow = connection.request(call());
  await untilPasses(() => expect(failing).toBeDefined());
  server.forget();
  expect((await connection.request(call())).kind).toBe("result");
  failing?.();
  expect((await slow).kind).toBe("error");
  // The first, the one that failed, and the one that was sent again in the new session.
  expect(server.ran).toBe(3);
});

test("a server that gives no new session loses the connection", async () => {
  const server = await serve({});
  const { connection } = await connect(server.url);
  server.forget();
  server.refuseSessions();
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_HTTP" });
  await expect(connection.closed).resolves.toMatchObject({ kind: "lost" });
});

test("a broken event stream is resumed after its last event, as long as it goes on", async () => {
  const resumed: Array<string | undefined> = [];
  let callId: unknown;
  const server = await serve({
    onCall(response, message) {
      callId = message.id;
      startStream(response);
      response.end("id: e0\nretry: 5\ndata:\n\n");
    },
    onGet(response, headers) {
      const last = headers["last-event-id"]?.toString();
      if (last === undefined) return response.writeHead(405).end();
      resumed.push(last);
      startStream(response);
      if (last === "e2")
        return response.end(
          `id: e3\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: callId, result: { done: true } })}\n\n`,
        );
      const log = `id: e${Number(last.slice(1)) + 1}\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}\n\n`;
      // Cut in the middle, as a proxy does.
      return response.write(log, () => response.destroy());
    },
  });
  const { connection } = await connect(server.url);
  const onLog = vi.fn<(params: unknown) => void>();
  const breakOff = vi.fn<(nextMs: number) => void>();
  const reply = await connection.request(call({ onLog, replies: { send: () => true, breakOff } }));
  expect(reply.kind === "result" && reply.result.toString()).toBe(`{"done":true}`);
  // The client behind the call hears when its server wants to be asked again.
  expect(breakOff.mock.calls).toEqual([[5]]);
  expect(resumed).toEqual(["e0", "e1", "e2"]);
  expect(onLog).toHaveBeenCalledTimes(2);
});

test("a stream that brings nothing new is resumed a bounded number of times", async () => {
  let gets = 0;
  const server = await serve({
    onCall(response) {
      startStream(response);
      response.end("id: e0\ndata:\n\n");
    },
    onGet(response, headers) {
      if (headers["last-event-id"] === undefined) return response.writeHead(405).end();
      gets += 1;
      startStream(response);
      return response.end();
    },
  });
  const { connection } = await connect(server.url);
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
  expect(gets).toBe(tuning.resumeTries);
});

test("a stream without event ids is not resumed", async () => {
  const server = await serve({
    onCall(response) {
      startStream(response);
      response.end();
    },
  });
  const { connection } = await connect(server.url);
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
});

test("the GET stream brings notifications, and is opened again when it ends", async () => {
  const server = await serve({
    onGet(response) {
      startStream(response);
      response.end(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n`);
    },
  });
  const { notifications } = await connect(server.url);
  await untilPasses(() => expect(notifications.length).toBeGreaterThan(1));
  expect(new Set(notifications)).toEqual(new Set(["notifications/tools/list_changed"]));
});

test("a GET stream that says 404 brings a new session before the next call", async () => {
  const streams: ServerResponse[] = [];
  const server = await serve({
    onGet(response) {
      startStream(response);
      streams.push(response);
    },
  });
  const { connection } = await connect(server.url);
  await untilPasses(() => expect(streams).toHaveLength(1));
  server.forget();
  streams[0]?.end();
  await untilPasses(() => expect(streams).toHaveLength(2));
  await connection.request(call());
  expect(server.count("initialize")).toBe(2);
  expect(server.count("tools/call")).toBe(1);
});

test("a question on a call's own stream belongs to that call, and its answer is posted", async () => {
  const waiting = new Map<unknown, () => void>();
  const server = await serve({
    onCall(response, message) {
      startStream(response);
      response.write(
        `data: ${JSON.stringify({ jsonrpc: "2.0", id: `q${String(message.id)}`, method: "elicitation/create", params: { of: message.id } })}\n\n`,
      );
      waiting.set(`q${String(message.id)}`, () =>
        response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: {} })}\n\n`),
      );
    },
    onMessage: (message) => waiting.get(message.id)?.(),
  });
  const { connection } = await connect(server.url);
  const asked: string[] = [];
  const ask =
    (who: string): NonNullable<UpstreamRequest["ask"]> =>
    async ({ params }) => {
      asked.push(`${who} ${params.toString()}`);
      return { kind: "result", result: Buffer.from(`{"action":"accept"}`) };
    };
  await Promise.all([connection.request(call({ ask: ask("a") })), connection.request(call({ ask: ask("b") }))]);
  expect(asked.toSorted()).toEqual([`a {"of":1}`, `b {"of":2}`]);
  expect(server.messages.map(({ body }) => body)).toContainEqual({
    jsonrpc: "2.0",
    id: "q1",
    result: { action: "accept" },
  });
});

test("FAULT 66: a call that is cancelled is cancelled at the server, and its stream closed", async () => {
  const closed: Promise<unknown>[] = [];
  const server = await serve({
    onCall(response) {
      startStream(response);
      closed.push(once(response, "close"));
    },
  });
  const { connection } = await connect(server.url);
  const controller = new AbortController();
  const pending = connection.request(call({ signal: controller.signal }));
  await untilPasses(() => expect(closed).toHaveLength(1));
  controller.abort();
  await expect(pending).rejects.toMatchObject({ code: "CALL_CANCELLED" });
  await closed[0];
  expect(server.messages.map(({ body }) => body)).toContainEqual(
    expect.objectContaining({ method: "notifications/cancelled", params: expect.objectContaining({ requestId: 1 }) }),
  );
});

test("dispose ends though the server answers nothing any more", async () => {
  const server = await serve({ onCall: () => undefined, onDelete: () => undefined });
  const { connection } = await connect(server.url);
  const pending = connection.request(call()).catch((error: unknown) => error);
  await untilPasses(() => expect(server.count("tools/call")).toBe(1));
  await connection[Symbol.asyncDispose]();
  expect(await pending).toMatchObject({ code: "UPSTREAM_CLOSED" });
});

test("an array of messages, as revision 2025-03-26 allowed, is taken apart", async () => {
  const server = await serve({
    onCall: (response, { id }) =>
      response.writeHead(200, { "content-type": "application/json" }).end(
        JSON.stringify([
          { jsonrpc: "2.0", method: "notifications/message", params: { data: 1 } },
          { jsonrpc: "2.0", id, result: { ok: 1 } },
        ]),
      ),
  });
  const { connection } = await connect(server.url);
  const onLog = vi.fn<(params: unknown) => void>();
  expect(await connection.request(call({ onLog }))).toMatchObject({ kind: "result" });
  expect(onLog).toHaveBeenCalledWith({ data: 1 });
});

interface Message {
  readonly id?: unknown;
  readonly method?: string;
}

interface Behaviour {
  readonly onCall?: (response: ServerResponse, message: Message) => unknown;
  readonly onGet?: (response: ServerResponse, headers: IncomingHttpHeaders) => unknown;
  readonly onDelete?: (response: ServerResponse) => unknown;
  /** Answers and notifications that were posted. */
  readonly onMessage?: (message: Message) => unknown;
  readonly unknownStatus?: number;
}

/** A legacy server with one session at a time. */
async function serve(behaviour: Behaviour) {
  const seen: Array<{ method: string; headers: IncomingHttpHeaders; body: Message | undefined }> = [];
  let sessions = 0;
  let current = "";
  let refuses = false;
  const state = { ran: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as Message);
    seen.push({
      method: body?.method ?? (body === undefined ? (request.method ?? "") : "answer"),
      headers: request.headers,
      body,
    });
    if (body?.method === "initialize" && !refuses) {
      sessions += 1;
      current = `s${sessions}`;
      response.setHeader("mcp-session-id", current);
      return answer(response, body.id, {
        protocolVersion: "2025-11-25",
        capabilities: {},
        serverInfo: { name: "old", version: "1" },
      });
    }
    if (request.headers["mcp-session-id"] !== current) return refuse(response, behaviour.unknownStatus ?? 404, null);
    if (request.method === "GET")
      return (behaviour.onGet ?? ((to) => to.writeHead(405).end()))(response, request.headers);
    if (request.method === "DELETE") return (behaviour.onDelete ?? ((to) => to.writeHead(204).end()))(response);
    if (body?.method !== undefined && body.id !== undefined) {
      state.ran += 1;
      return (behaviour.onCall ?? ((to, { id }) => answer(to, id, {})))(response, body);
    }
    response.writeHead(202).end();
    return body === undefined ? undefined : behaviour.onMessage?.(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    messages: seen,
    get ran() {
      return state.ran;
    },
    count: (method: string) => seen.filter((one) => one.method === method).length,
    forget() {
      current = "gone";
    },
    refuseSessions() {
      refuses = true;
    },
  };
}

async function connect(url: string) {
  const oddities: string[] = [];
  const notifications: string[] = [];
  const connection: Connection = await connectHttpWith(
    tuning,
    {
      server: "odd",
      transport: { kind: "http", url, headers: {} },
      identity: { name: "toolyard", version: "0.0.0" },
      limits: { messageBytes: 1 << 20, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
      knownEras: ["legacy"],
      memory: createLargeBuffers(),
      events: {
        onNotification: (method) => notifications.push(method),
        onStderr: () => undefined,
        onOddity: (kind) => oddities.push(kind),
      },
      authorize: undefined,
    },
    AbortSignal.timeout(20_000),
  );
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return { connection, oddities, notifications };
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

function answer(response: ServerResponse, id: unknown, result: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

function refuse(response: ServerResponse, status: number, id: unknown): void {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "no" } }));
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
}
