import { expect, onTestFinished, test } from "vitest";
import {
  jsonResponse,
  resultText,
  serveRaw,
  type RawAnswer,
  type RawRequest,
} from "../../../../test/harness/raw-http-server.ts";
import { until } from "../../../../test/harness/until.ts";
import { httpTuning } from "../../../wire/http/tuning.ts";
import { createLargeBuffers } from "../../../wire/json/large-buffers.ts";
import type { Connection, UpstreamRequest } from "../connection.ts";
import { connectHttpWith } from "../remote/connect-http.ts";

const eras = ["legacy", "modern"] as const;
const isCall = ({ message }: RawRequest): boolean => message?.method === "tools/call";
const fine = (id: unknown): string => resultText(id, '{"content":[]}');

/** A response whose body is this, and whose length is known. */
function response(body: string, headers = "", status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const event = (text: string): string => response(`data: ${text}\n\n`, "content-type: text/event-stream\r\n");

const redirected =
  (status: number, from: string, to: string): RawAnswer =>
  ({ path, method }, socket) => {
    if (path !== from || (method !== "POST" && method !== "DELETE")) return false;
    return socket.write(response("moved", `location: ${to}\r\n`, `${status} Moved`));
  };

test.each([
  [307, "/mcp", "/mcp/"],
  [308, "/mcp/", "/mcp"],
  [307, "/mcp?key=k", "/mcp/?key=k"],
])("HTTP %i from %s to %s is followed, and remembered by the connection", async (status, from, to) => {
  for (const era of eras) {
    const { server, connection } = await connect(era, redirected(status, from, to), from);
    for (const _call of [1, 2]) expect(await connection.request(call())).toMatchObject({ kind: "result" });
    await connection[Symbol.asyncDispose]();
    const asked = server.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
    expect(asked).toEqual([from, ...Array.from({ length: asked.length - 1 }, () => to)]);
    expect(server.requests.every(({ head }) => head.includes("x-key: k"))).toBe(true);
  }
});

test("a redirect of the stream and of a session's end is followed as that of a POST is", async () => {
  const { server, connection } = await connect("legacy", ({ path, method, message }, socket) => {
    if (path === "/mcp" && method !== "POST") return socket.write(response("", "location: /mcp/\r\n", "307 Moved"));
    if (message?.method !== "initialize") return false;
    const result = '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}';
    return socket.write(jsonResponse(resultText(message.id, result), "mcp-session-id: s\r\n"));
  });
  const pathsOf = (wanted: string) => server.requests.filter(({ method }) => method === wanted).map(({ path }) => path);
  await until(() => pathsOf("GET").length > 1);
  await connection[Symbol.asyncDispose]();
  expect(pathsOf("DELETE")).toEqual(["/mcp", "/mcp/"]);
  expect(pathsOf("GET").slice(0, 2)).toEqual(["/mcp", "/mcp/"]);
  expect(new Set(pathsOf("POST"))).toEqual(new Set(["/mcp"]));
});

test("redirects in a circle end after the first", async () => {
  const { server, connection } = await connect("modern", (request, socket) => {
    if (!isCall(request)) return false;
    const location = request.path === "/mcp" ? "/mcp/" : "/mcp";
    return socket.write(response("", `location: ${location}\r\n`, "307 Moved"));
  });
  await expect(connection.request(call())).rejects.toMatchObject({ code: "CONNECT_FAILED", data: { status: 307 } });
  expect(server.requests.filter(isCall)).toHaveLength(2);
});

test.each([
  ["no Content-Type", ""],
  ["text/plain", "content-type: text/plain; charset=utf-8\r\n"],
  ["a charset in capitals", "Content-Type: Application/JSON; charset=UTF-8\r\n"],
])("a JSON-RPC answer with %s is one", async (_what, header) => {
  for (const era of eras) {
    const { connection } = await connect(era, (request, socket) => {
      if (!isCall(request)) return false;
      return socket.write(response(`\ufeff\r\n${fine(request.message.id)}\n`, header));
    });
    expect(await connection.request(call())).toMatchObject({ kind: "result" });
  }
});

test("an event stream may be named in capitals and end its lines with CR LF", async () => {
  const { connection } = await connect("modern", (request, socket) => {
    if (!isCall(request)) return false;
    const text = `\ufeffevent: message\r\ndata: ${fine(request.message.id)}\r\n\r\n`;
    return socket.write(response(text, "content-type: Text/Event-Stream; charset=UTF-8\r\n"));
  });
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
});

test.each([
  ["200 with a word", response("ok", "content-type: text/plain\r\n")],
  ["200 with JSON", response('{"status":"accepted"}', "content-type: application/json\r\n")],
  ["200 with null", response("null", "content-type: application/json\r\n")],
  ["200 with a stream that stays open", "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"],
  ["204", "HTTP/1.1 204 No Content\r\n\r\n"],
])("a notification that is answered %s was taken", async (_what, answer) => {
  const { connection, oddities } = await connect("legacy", ({ message }, socket) =>
    message?.method?.startsWith("notifications/") === true ? socket.write(answer) : false,
  );
  await connection.notify("notifications/roots/list_changed", {});
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
  expect(oddities).not.toContain("notification-refused");
});

const notice = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null}';
const logged = '{"level":30,"id":1,"msg":"job fetched"}';

test.each([
  ["JSON", jsonResponse],
  ["an event", event],
])("an array with the answer in it is read, as %s, in the handshake too", async (_what, write) => {
  const { connection, notifications } = await connect("legacy", ({ message }, socket) => {
    if (message?.method !== "initialize" && message?.method !== "tools/call") return false;
    const result = '{"protocolVersion":"2025-03-26","capabilities":{},"content":[]}';
    return socket.write(write(`[${notice},${logged},${resultText(message.id, result)}]`));
  });
  expect(connection.peer.revision).toBe("2025-03-26");
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
  expect(notifications).toEqual(["notifications/tools/list_changed"]);
});

test("an event that is no message is skipped, and the answer after it counts", async () => {
  for (const era of eras) {
    const { connection, oddities } = await connect(era, (request, socket) => {
      if (!isCall(request)) return false;
      const { id } = request.message;
      const events = [`{"level":30,"id":${id}}`, `[1,{"id":${id}}]`, "started", fine(id), fine(id)];
      const body = events.map((text) => `data: ${text}\n\n`).join("");
      return socket.write(response(body, "content-type: text/event-stream\r\n"));
    });
    expect(await connection.request(call())).toMatchObject({ kind: "result" });
    expect(oddities.filter((kind) => kind === "not-json")).toHaveLength(4);
  }
});

test.each(['"used up"', '{"message":"used up"}', '{"code":"-32000","message":"used up"}'])(
  "the error %s beside a result of null is delivered, and one of the probe leads to initialize",
  async (error) => {
    for (const write of [jsonResponse, event]) {
      const { connection } = await connect("legacy", ({ message }, socket) => {
        if (message?.method !== "server/discover" && message?.method !== "tools/call") return false;
        return socket.write(write(`{"jsonrpc":"2.0","id":${message.id},"result":null,"error":${error}}`));
      });
      expect(connection.peer.era).toBe("legacy");
      expect(await connection.request(call())).toEqual({ kind: "error", error: Buffer.from(error) });
    }
  },
);

test("what a refused initialize says is in the failure", async () => {
  const refused = connect("legacy", ({ message }, socket) =>
    socket.write(jsonResponse(`{"jsonrpc":"2.0","id":${message?.id},"result":null,"error":"no license"}`)),
  );
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining("no license") });
});

test("a server that keeps ids as text is understood", async () => {
  for (const era of eras) {
    const { connection, oddities } = await connect(era, (request, socket) =>
      isCall(request) ? socket.write(jsonResponse(fine(String(request.message.id)))) : false,
    );
    for (const _call of [1, 2]) expect(await connection.request(call())).toMatchObject({ kind: "result" });
    expect(oddities).toEqual([]);
  }
});

async function connect(era: "legacy" | "modern", answer: RawAnswer, path = "/mcp") {
  const server = await serveRaw(era, answer);
  const oddities: string[] = [];
  const notifications: string[] = [];
  const connection = await connectHttpWith(
    { ...httpTuning, disposeTimeoutMs: 500, afterAnswerMs: 50 },
    {
      server: "odd",
      transport: { kind: "http", url: new URL(path, server.url).href, headers: { "X-Key": "k" } },
      identity: { name: "toolyard", version: "0.0.0" },
      limits: { messageBytes: 1 << 20, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
      knownEras: undefined,
      memory: createLargeBuffers(),
      authorize: undefined,
      events: {
        onNotification: (method) => notifications.push(method),
        onStderr: () => undefined,
        onOddity: (kind) => oddities.push(kind),
      },
    },
    AbortSignal.timeout(20_000),
  );
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return { server, connection, oddities, notifications } satisfies { connection: Connection; [key: string]: unknown };
}

function call(): UpstreamRequest {
  return {
    method: "tools/call",
    params: [["name", '"echo"']],
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    maxTimeoutMs: 20_000,
  };
}
