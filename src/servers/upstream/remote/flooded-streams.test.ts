import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../test/harness/until.ts";
import { createLargeBuffers } from "../../../wire/json/large-buffers.ts";
import { httpTuning } from "../../../wire/http/tuning.ts";
import { connectSse } from "../sse/connect-sse.ts";
import { connectHttpWith } from "./connect-http.ts";

const ways = ["a call of 2026-07-28", "the GET stream of a session", "the one stream of HTTP+SSE"] as const;

const event = (message: object): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
const logged = event({ method: "notifications/message", params: { level: "info", data: "." } });
const piece = Buffer.from(logged.repeat(1_000));

/** In a tenth of a second: the limit, and what was read at once with what reached it. */
const mostInWindow = 500 + 65_536 / logged.length;
const windowMs = 100;

/** Writes as fast as the client reads. */
function pour(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
    response.once("drain", more);
  };
  more();
}

/** A server that floods whichever stream a test looks at; all else it answers. */
async function serveFlood(way: (typeof ways)[number]): Promise<string> {
  const isModern = way === ways[0];
  let stream: ServerResponse | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      stream = response;
      if (way === ways[1]) pour(response);
      else response.write("event: endpoint\ndata: /post\n\n");
      return;
    }
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || "{}") as { id?: unknown; method?: string };
    const result = isModern
      ? { supportedVersions: ["2026-07-28"], capabilities: {} }
      : { protocolVersion: "2025-11-25", capabilities: {} };
    if (method === "tools/call") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      pour(response);
    } else if (way === ways[2]) {
      response.writeHead(202).end();
      if (id !== undefined) stream?.write(event({ id, result }));
      else if (stream !== undefined) pour(stream);
    } else if (id === undefined || (method === "server/discover" && !isModern))
      response.writeHead(id === undefined ? 202 : 404).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id, result }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function connect(way: (typeof ways)[number], onHeard: () => void) {
  const connection = await connectHttpWith(
    { ...httpTuning, disposeTimeoutMs: 500 },
    {
      server: "loud",
      transport: { kind: "http", url: await serveFlood(way), headers: {} },
      identity: { name: "toolyard", version: "0.0.0" },
      limits: { messageBytes: 100_000, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
      knownEras: undefined,
      memory: createLargeBuffers(),
      events: { onNotification: onHeard, onStderr: () => undefined, onOddity: () => undefined },
      authorize: undefined,
    },
    AbortSignal.timeout(20_000),
    ...(way === ways[2] ? [connectSse] : []),
  );
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return connection;
}

test.each([
  [ways[0], 1],
  [ways[0], 4],
  [ways[1], 0],
  [ways[2], 0],
])("FAULT 51: %s brings no more than may be read of a server, with %i calls too", async (way, calls) => {
  const since = performance.now();
  let heard = 0;
  const connection = await connect(way, () => (heard += 1));
  const controller = new AbortController();
  const { signal } = controller;
  const ended = Array.from({ length: calls }, async () => {
    const request = { method: "tools/call", params: [], signal, timeoutMs: 60_000, maxTimeoutMs: 60_000 };
    return await connection.request(request).catch((error: unknown) => error);
  });
  // What has arrived with the beginning of each stream is read before the limit is seen to be reached.
  const atOnce = Math.max(1, calls) * mostInWindow;
  await until(() => heard > 20_000);
  expect(heard).toBeLessThan(atOnce + (1 + (performance.now() - since) / windowMs) * mostInWindow);
  controller.abort(new Error("enough"));
  for (const error of await Promise.all(ended)) expect(error).toMatchObject({ code: "CALL_CANCELLED" });
});
