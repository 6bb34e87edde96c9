import { once } from "node:events";
import { expect, test } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { until } from "../../../../test/harness/until.ts";
import { metaExposure } from "../../../catalog/exposure/meta/meta.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { createSseStream, type SseStream } from "./sse-stream.ts";

const opened = createResponses();

/** A stream of the gateway, and the client at its other end, which does not read before it is told to. */
async function open(keepAliveMs = 60_000) {
  const { response, client, received } = await opened();
  const closed: SseStream[] = [];
  const stream = createSseStream({
    response,
    endpoint: { path: "/sse", exposure: metaExposure, sse: "stream" },
    principal: localPrincipal,
    node: undefined,
    prefix: "",
    query: "",
    nowMs: 0,
    keepAliveMs,
    memory: { free: () => undefined, adopt: () => undefined, written: () => undefined },
    tap: { take: undefined },
    onClose: (one) => void closed.push(one),
  });
  return { stream, client: await client(), received, closed };
}

const megabytes = (count: number): Buffer => Buffer.alloc(count * 1_048_576, "x");

test("begins with the URL for messages, and says something while nothing is said", async () => {
  const { stream, client, received, closed } = await open(5);
  client.resume();
  await until(() => received().includes(": keep-alive\n\n: keep-alive\n\n"));
  expect(received()).toMatch(/^event: endpoint\ndata: \/sse\/messages\?sessionId=[0-9a-f-]{36}\n\n: keep-alive/);
  stream.end();
  await once(client, "close");
  await until(() => closed.length > 0);
  expect(closed).toEqual([stream]);
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
