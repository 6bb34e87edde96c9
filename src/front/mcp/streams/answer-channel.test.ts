import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { until } from "../../../../test/harness/until.ts";
import { type Accepts, createAnswerChannel } from "./answer-channel.ts";
import { createResumableStreams } from "./event-log.ts";

const opened = createResponses();
const both: Accepts = { json: true, stream: true };
const answer = '{"jsonrpc":"2.0","id":1,"result":{}}';

async function open(accepts: Accepts, resumable = false) {
  const { response, client, received } = await opened();
  const streams = resumable ? createResumableStreams("2025-11-25") : undefined;
  const written: unknown[] = [];
  let gone = 0;
  const channel = createAnswerChannel(response, {
    idText: "1",
    accepts,
    resumable: streams,
    memory: { free: () => undefined, adopt: () => undefined, written: (pieces) => void written.push(pieces) },
    onGone: () => void (gone += 1),
  });
  /** The client's end, read to its end. */
  const read = async (): Promise<{ type: string | undefined; status: number | undefined; text: string }> => {
    const reading = await client();
    reading.resume();
    await once(reading, "end");
    return { type: reading.headers["content-type"], status: reading.statusCode, text: received() };
  };
  return { channel, response, client, received, read, streams, written, gone: () => gone };
}

test("an answer alone is JSON, with the status that it came with", async () => {
  const { channel, read } = await open(both);
  channel.finish('"result":{}', 404);
  channel.finish('"result":{"again":true}');
  expect(await read()).toEqual({ type: "application/json", status: 404, text: answer });
});

test("what is said before it makes it an event stream", async () => {
  const { channel, read } = await open(both);
  expect(channel.send('{"n":1}')).toBe(true);
  channel.finish('"result":{}');
  expect(channel.send('{"n":2}')).toBe(false);
  expect(await read()).toEqual({
    type: "text/event-stream",
    status: 200,
    text: `event: message\ndata: {"n":1}\n\nevent: message\ndata: ${answer}\n\n`,
  });
});

test("a client that takes no streams is told only the answer; one that takes nothing else gets it as an event", async () => {
  const json = await open({ json: true, stream: false });
  expect(json.channel.send("{}")).toBe(false);
  json.channel.finish('"result":{}');
  expect(await json.read()).toMatchObject({ type: "application/json", text: answer });
  const events = await open({ json: false, stream: true });
  events.channel.finish('"result":{}');
  expect(await events.read()).toMatchObject({ type: "text/event-stream", text: `event: message\ndata: ${answer}\n\n` });
});

test("pieces leave without being joined, and are let go once they are written", async () => {
  const { channel, read, written } = await open(both);
  channel.finish(['"result":', Buffer.from("{}")]);
  expect(await read()).toEqual({ type: "application/json", status: 200, text: answer });
  await until(() => written.length === 1);
});

test("a stream that was broken off goes on in its log, to its answer", async () => {
  const { channel, read, streams } = await open(both, true);
  channel.breakOff?.(0);
  const { text } = await read();
  const id = /^id: (.+)$/m.exec(text)?.[1] ?? "";
  expect(channel.send('{"n":1}')).toBe(true);
  channel.finish('"result":{}');
  const place = streams?.find(id);
  const kept: string[] = [];
  place?.log.follow(place.number, { onEvent: (event) => kept.push(event), onEnd: () => kept.push("end") });
  expect(kept.map((event) => /data: (.*)/.exec(event)?.[1] ?? event)).toEqual(['{"n":1}', answer, "end"]);
});

test("a client is let go when it will come back as the answer is due, and not at all when that is there before", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const late = await open(both, true);
    late.channel.breakOff?.(6_000);
    vi.advanceTimersByTime(4_999);
    expect(late.response.writableEnded).toBe(false);
    vi.advanceTimersByTime(1);
    expect(late.response.writableEnded).toBe(true);
    const early = await open(both, true);
    early.channel.breakOff?.(6_000);
    early.channel.finish('"result":{}');
    vi.advanceTimersByTime(10_000);
    expect((await early.read()).text).toMatch(/^id: \S+_0\nretry: 1000\ndata: \n\n.*data: \{"jsonrpc"/s);
  } finally {
    vi.useRealTimers();
  }
});

test("without a log there is nothing to come back to, so that nothing is broken off", async () => {
  const { channel, read } = await open(both);
  channel.breakOff?.(0);
  channel.finish('"result":{}');
  expect(await read()).toMatchObject({ type: "application/json", text: answer });
});

test("a client that goes before its answer is noticed once; what is said then has to go another way", async () => {
  const { channel, response, client, gone } = await open(both);
  response.flushHeaders();
  (await client()).destroy();
  await until(() => gone() === 1);
  expect(channel.send("{}")).toBe(false);
  channel.finish('"result":{}');
  expect(gone()).toBe(1);
});

test("a client that does not read what is said before its answer loses the stream", async () => {
  const { channel, response, client } = await open(both);
  channel.send("{}");
  await client();
  const megabyte = "x".repeat(1_048_576);
  for (let count = 0; count < 32; count += 1) channel.send(megabyte);
  expect(response.destroyed).toBe(true);
});
