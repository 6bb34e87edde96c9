import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import {
  jsonResponse,
  resultText,
  serveRaw,
  type RawAnswer,
  type RawHttpServer,
  type RawRequest,
} from "../../../../test/harness/raw-http-server.ts";
import { until } from "../../../../test/harness/until.ts";
import { createLargeBuffers } from "../../../wire/json/large-buffers.ts";
import type { Connection, UpstreamRequest } from "../connection.ts";
import { connectHttpWith } from "../remote/connect-http.ts";
import { httpTuning, type HttpTuning } from "../../../wire/http/tuning.ts";

const eventStream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const chunkedJson = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

test.each([
  ["chunks of a body", chunkedJson, "", "1\r\nx\r\n", ""],
  ["chunks of a line", eventStream, "data: ", "1\r\nx\r\n", "\n\n"],
  ["lines of an event", eventStream, "data: ", "6\r\ndata:\n\r\n", "\n\n"],
])("FAULT 70: a million %s cost what their bytes cost", async (_what, head, before, piece, after) => {
  const { connection } = await connect("modern", async ({ message }, socket) => {
    if (message.method !== "tools/call") return false;
    const [start, end] = resultText(message.id, '{"text":"|"}').split("|") as [string, string];
    // White space between members of an object may be of any length, in any number of lines.
    const isText = piece.includes("x");
    socket.write(head + chunk(before + (isText ? start : `${start}",\n`)));
    for (let sent = 0; sent < 1_000; sent += 1) await written(socket, piece.repeat(1_000));
    socket.write(`${chunk((isText ? end : `data: "a":"${end}`) + after)}0\r\n\r\n`);
    return true;
  });
  const startedWith = process.memoryUsage().heapUsed;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed - startedWith)), 5);
  const reply = await connection.request(call());
  clearInterval(watch);
  expect(reply.kind === "result" && reply.result.length).toBeGreaterThan(999_999);
  expect(most).toBeLessThan(80_000_000);
});

const few: HttpTuning = { ...httpTuning, connections: 3, reservedConnections: 1 };
const hanging: RawAnswer = ({ message }) => message?.method === "tools/call" && message.params.name === "hang";

test("calls that hold every connection can all be cancelled, and the next one runs at once", async () => {
  const { connection, server } = await connect("legacy", hanging, few);
  const controller = new AbortController();
  const calls = Array.from({ length: 8 }, () =>
    connection.request(call({ params: [["name", '"hang"']], signal: controller.signal })),
  );
  await until(() => sentTo(server, "tools/call").length === few.connections);
  controller.abort();
  for (const one of await Promise.allSettled(calls)) expect(one).toMatchObject({ reason: { code: "CALL_CANCELLED" } });
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
  // Those that waited for a connection never reached the server, so it hears nothing of them.
  expect(sentTo(server, "notifications/cancelled")).toHaveLength(few.connections);
  expect(sentTo(server, "tools/call")).toHaveLength(few.connections + 1);
});

test("a server that does not take cancellations either loses no connection by them", async () => {
  const deaf: RawAnswer = (request, socket) =>
    request.message?.method === "notifications/cancelled" || hanging(request, socket);
  const { connection, server } = await connect("legacy", deaf, { ...few, afterAnswerMs: 50 });
  const controller = new AbortController();
  const calls = Array.from({ length: few.connections }, () =>
    connection.request(call({ params: [["name", '"hang"']], signal: controller.signal })),
  );
  await until(() => sentTo(server, "tools/call").length === few.connections);
  controller.abort();
  await Promise.allSettled(calls);
  expect(await connection.request(call({ timeoutMs: 4_000 }))).toMatchObject({ kind: "result" });
});

test("the answer to a question does not wait behind the calls that wait for it", async () => {
  const asked = new Map<unknown, () => void>();
  const { connection } = await connect(
    "legacy",
    ({ message }, socket) => {
      if (message?.method === undefined && asked.has(message?.id)) asked.get(message.id)?.();
      if (message?.method !== "tools/call") return false;
      const question = { jsonrpc: "2.0", id: `q${message.id}`, method: "elicitation/create", params: { message: "?" } };
      socket.write(eventStream + chunk(`data: ${JSON.stringify(question)}\n\n`));
      asked.set(question.id, () => socket.write(`${chunk(`data: ${resultText(message.id, "{}")}\n\n`)}0\r\n\r\n`));
      return true;
    },
    few,
  );
  const ask = () => Promise.resolve({ kind: "result", result: Buffer.from("{}") } as const);
  const replies = await Promise.all(Array.from({ length: 7 }, () => connection.request(call({ ask }))));
  for (const reply of replies) expect(reply.kind).toBe("result");
});

test.each(["", "transfer-encoding: chunked\r\n", "content-length: 5\r\n"])(
  "a 202 whose end never comes (%j) has been accepted by its head",
  async (framing) => {
    const { connection, oddities } = await connect(
      "legacy",
      ({ message }, socket) =>
        message?.id === undefined && message !== undefined && socket.write(`HTTP/1.1 202 Accepted\r\n${framing}\r\n`),
      { ...few, postTimeoutMs: 5_000, afterAnswerMs: 50 },
    );
    for (let sent = 0; sent < 10; sent += 1) await connection.notify("notifications/roots/list_changed", {});
    expect(await connection.request(call())).toMatchObject({ kind: "result" });
    expect(oddities).toEqual([]);
  },
);

test("a call that is only accepted fails soon", async () => {
  const { connection } = await connect(
    "legacy",
    ({ message }, socket) => message?.method === "tools/call" && socket.write("HTTP/1.1 202 Accepted\r\n\r\n"),
    { ...few, afterAnswerMs: 50 },
  );
  await expect(connection.request(call())).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL" });
});

test("a body may begin with a byte order mark, as clients take it", async () => {
  const { connection } = await connect("legacy", ({ message }, socket) => {
    if (message?.method !== "tools/call") return false;
    return socket.write(jsonResponse(`\uFEFF${resultText(message.id, "{}")}`));
  });
  expect(await connection.request(call())).toMatchObject({ kind: "result" });
});

test("a message over the limit names the limit that it met", async () => {
  const { connection } = await connect("legacy", ({ message }, socket) => {
    if (message?.method !== "tools/call") return false;
    return socket.write("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n");
  });
  await expect(connection.request(call())).rejects.toMatchObject({
    code: "RESULT_TOO_LARGE",
    hint: expect.stringContaining("limits.upstreamMessageBytes"),
  });
});

test("any number of notifications at once is no leak", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): number => warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const { connection } = await connect("legacy", () => false);
  await Promise.all(Array.from({ length: 30 }, () => connection.notify("notifications/roots/list_changed", {})));
  expect(warnings).toEqual([]);
});

function sentTo({ requests }: RawHttpServer, method: string): readonly RawRequest[] {
  return requests.filter(({ message }) => message?.method === method);
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

async function written(socket: Socket, text: string): Promise<void> {
  await new Promise((resolve) => socket.write(text, resolve));
}

async function connect(era: "legacy" | "modern", answer: RawAnswer, tuning: HttpTuning = httpTuning) {
  const server = await serveRaw(era, answer);
  const oddities: string[] = [];
  const connection = await connectHttpWith(
    { ...tuning, disposeTimeoutMs: 500 },
    {
      server: "odd",
      transport: { kind: "http", url: server.url, headers: {} },
      identity: { name: "toolyard", version: "0.0.0" },
      limits: { messageBytes: 16 << 20, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
      knownEras: undefined,
      memory: createLargeBuffers(),
      authorize: undefined,
      events: {
        onNotification: () => undefined,
        onStderr: () => undefined,
        onOddity: (kind) => oddities.push(kind),
      },
    },
    AbortSignal.timeout(20_000),
  );
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return { server, connection, oddities } satisfies { connection: Connection; [key: string]: unknown };
}

function call(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: "tools/call",
    params: [["name", '"echo"']],
    signal: new AbortController().signal,
    timeoutMs: 110_000,
    maxTimeoutMs: 110_000,
    ...changes,
  };
}
