import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { metaExposure } from "../../catalog/exposure/meta.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { createSseStream, type SseStream } from "./sse-stream.ts";

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

interface Both {
  readonly stream: SseStream;
  readonly client: IncomingMessage;
  readonly received: () => string;
  readonly freed: unknown[];
}

/** A stream of the gateway, and the client at its other end, which does not read before it is told to. */
async function open(keepAliveMs = 60_000): Promise<Both> {
  server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const asked = get({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, agent: false });
  const [, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  const freed: unknown[] = [];
  const stream = createSseStream({
    response,
    endpoint: { path: "/sse", exposure: metaExposure, sse: "stream" },
    principal: localPrincipal,
    prefix: "",
    query: "",
    nowMs: 0,
    keepAliveMs,
    memory: { free: () => undefined, adopt: () => undefined, written: (pieces) => void freed.push(pieces) },
    onClose: () => undefined,
  });
  const [client] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  client.on("error", () => undefined);
  client.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  client.pause();
  return { stream, client, received: () => text, freed };
}

const megabytes = (count: number): Buffer => Buffer.alloc(count * 1_048_576, "x");

test("begins with the URL for messages, and says something while nothing is said", async () => {
  const { stream, client, received } = await open(5);
  client.resume();
  await until(() => received().includes(": keep-alive\n\n: keep-alive\n\n"));
  expect(received()).toMatch(/^event: endpoint\ndata: \/sse\/messages\?sessionId=[0-9a-f-]{36}\n\n: keep-alive/);
  stream.end();
  await once(client, "close");
});

test("line ends within a message begin a new data line, wherever its pieces are cut; large ones are let go once written", async () => {
  const { stream, client, received, freed } = await open();
  client.resume();
  const pieces = ['{"a":[\n1,', Buffer.from("\r\n2,\n\n3\r,4"), Buffer.from("5\n"), "]}"];
  stream.send(pieces);
  stream.send('{\r"b":1}');
  await until(() => received().endsWith('"b":1}\n\n'));
  const [, first = "", second = ""] = received().trimEnd().split("\n\n");
  const dataOf = (event: string): unknown =>
    JSON.parse(event.replace(/^event: message\n/, "").replace(/^data: /gm, ""));
  expect(dataOf(first)).toEqual({ a: [1, 2, 3, 45] });
  expect(
    first
      .split("\n")
      .slice(1)
      .every((line) => line.startsWith("data: ")),
  ).toBe(true);
  expect(dataOf(second)).toEqual({ b: 1 });
  await until(() => freed.length === 1);
  expect(freed).toEqual([pieces]);
});

test("a client with much to read may say nothing more until it has read; of what it says all the same a bounded part waits", async () => {
  const { stream, client } = await open();
  expect(stream.room()).toBeUndefined();
  stream.send([megabytes(30)]);
  const waits = Array.from({ length: 64 }, () => stream.room());
  expect(waits.every((wait) => wait !== undefined)).toBe(true);
  expect(() => stream.room()).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  client.resume();
  for (const wait of waits) await wait;
  expect(stream.room()).toBeUndefined();
});

test("a client that leaves with much to read holds nobody up", async () => {
  const { stream, client } = await open();
  stream.send([megabytes(30)]);
  const wait = stream.room();
  expect(wait).toBeDefined();
  client.destroy();
  await wait;
  expect(stream.closed).toBe(true);
});

test("a client for which too much waits is left, and every request in flight hears of it once", async () => {
  const { stream } = await open();
  const gone: string[] = [];
  const never = new AbortController().signal;
  const [answered, open_] = ["answered", "open"].map((name) =>
    stream.openChannel(`"${name}"`, never, () => gone.push(name)),
  );
  answered?.finish('"result":{}');
  for (let count = 0; count < 4; count += 1) stream.send([megabytes(30)]);
  await until(() => gone.length > 0);
  expect(gone).toEqual(["open"]);
  expect([stream.closed, open_?.send("{}")]).toEqual([true, false]);
  open_?.finish('"result":{}');
});

test("a cancelled request gets no answer, every other one gets one", async () => {
  const { stream, client, received } = await open();
  client.resume();
  const cancelled = new AbortController();
  const one = stream.openChannel("1", cancelled.signal, () => undefined);
  const two = stream.openChannel("2", new AbortController().signal, () => undefined);
  cancelled.abort();
  one.finish('"result":{}');
  two.finish(['"result":', "{}"]);
  two.finish('"result":{"again":true}');
  stream.send("{}");
  await until(() => received().endsWith("data: {}\n\n"));
  expect(received()).not.toContain('"id":1');
  expect(received().match(/"id":2/g)).toHaveLength(1);
});
