import { expect, test } from "vitest";
import { createEventStreamReader, idleWindowMs, mostIdleBytes } from "./event-stream.ts";

interface Seen {
  readonly events: Array<readonly [type: string, data: string]>;
  tooLong: number;
  tooMuchIdle: number;
}

function read(text: string | Buffer, options: { chunk?: number; limit?: number; chunkMs?: number } = {}) {
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text);
  const seen: Seen = { events: [], tooLong: 0, tooMuchIdle: 0 };
  let atMs = 0;
  const sink = {
    onEvent: (data: Buffer, type: string) => void seen.events.push([type, data.toString()]),
    onTooLong: () => {
      seen.tooLong += 1;
    },
    onTooMuchIdle: () => {
      seen.tooMuchIdle += 1;
    },
  };
  const reader = createEventStreamReader(options.limit ?? 1_000, sink, () => atMs);
  const size = options.chunk ?? bytes.length;
  for (let at = 0; at < bytes.length; at += size) {
    atMs += options.chunkMs ?? 0;
    reader.feed(Buffer.from(bytes.subarray(at, at + size)));
  }
  return { ...seen, lastEventId: reader.lastEventId, retryMs: reader.retryMs };
}

const lines = [
  "\uFEFF: hello",
  "retry: 250",
  "id: 7",
  "event: endpoint",
  "data: /a",
  "",
  ": keep-alive",
  "data:{",
  "data: }",
  "data",
  "",
  "id: 8",
  "data: grüß",
  "",
  "data: cut short",
  "",
];

test.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
])("FAULT 71: an event stream with %s line ends reads the same in chunks of every size", (_name, end) => {
  const text = lines.join(end);
  for (let chunk = 1; chunk <= Buffer.byteLength(text); chunk += 1) {
    expect(read(text, { chunk })).toEqual({
      events: [
        ["endpoint", "/a"],
        ["message", "{\n}\n"],
        ["message", "grüß"],
      ],
      tooLong: 0,
      tooMuchIdle: 0,
      lastEventId: "8",
      retryMs: 250,
    });
  }
});

test("an event without data only carries its id", () => {
  const { events, lastEventId } = read("id: first\ndata:\n\n");
  expect(events).toEqual([]);
  expect(lastEventId).toBe("first");
});

test("an id beyond ASCII keeps its bytes, as a header carries them", () => {
  expect(Buffer.from(read("id: ä€\ndata: x\n\n").lastEventId ?? "", "latin1").toString()).toBe("ä€");
  const { lastEventId } = read(`id: kept\nid: ${"x".repeat(5_000)}\nid: a\u0001b\ndata: x\n\n`, { limit: 10_000 });
  expect(lastEventId).toBe("kept");
});

test("an id with NUL and a retry that is no number are ignored", () => {
  expect(read("id: a\0b\nretry: 1s\ndata: x\n\n")).toMatchObject({ lastEventId: undefined, retryMs: undefined });
});

test.each([
  ["one line that never ends", `data: ${"x".repeat(200)}`],
  ["one complete line", `data: ${"x".repeat(200)}\n\n`],
  ["many lines", `${"data: x\n".repeat(100)}\n`],
  ["a comment that never ends", `:${"x".repeat(200)}`],
])("FAULT 70: an event beyond the limit ends the reading: %s", (_name, text) => {
  for (const chunk of [1, 7, text.length]) {
    expect(read(`data: fine\n\n${text}data: after\n\n`, { chunk, limit: 100 })).toMatchObject({
      events: [["message", "fine"]],
      tooLong: 1,
    });
  }
});

test.each([
  ["comments", ":\n"],
  ["empty lines", "\n"],
  ["empty lines that end with CRLF", "\r\n"],
  ["ids", "id: 7\n\n"],
  ["comments of many kilobytes", `:${" ".repeat(20_000)}\n`],
])("FAULT 70: a stream of nothing but %s is ended, with events in between it goes on", (_name, line) => {
  const third = line.repeat(mostIdleBytes / 3 / line.length);
  const limit = 10 * mostIdleBytes;
  expect(read(`${third.repeat(4)}data: after\n\n`, { chunk: 65_536, limit })).toMatchObject({
    events: [],
    tooMuchIdle: 1,
  });
  const events = read(`${third}${third}data: x\n\n`.repeat(3), { chunk: 65_536, limit });
  expect(events).toMatchObject({ events: [{}, {}, {}], tooMuchIdle: 0 });
});

test("FAULT 70: nor does a stream of comments as long as an event may be go on", () => {
  const text = `:${"x".repeat(3 * mostIdleBytes)}\n`.repeat(2);
  expect(read(text, { chunk: 65_536, limit: 10 * mostIdleBytes })).toMatchObject({ events: [], tooMuchIdle: 1 });
});

test("keep-alives may go on for ever: only what comes too fast is ended", () => {
  const chunk = 2_048;
  const text = `${": ping\n\n".repeat(mostIdleBytes / 2)}data: after\n\n`;
  const chunkMs = (idleWindowMs / mostIdleBytes) * chunk;
  expect(read(text, { chunk, chunkMs: 1.1 * chunkMs })).toMatchObject({ events: [{}], tooMuchIdle: 0 });
  expect(read(text, { chunk, chunkMs: 0.9 * chunkMs })).toMatchObject({ events: [], tooMuchIdle: 1 });
});

test("an event that is large is not idle, however it is cut", () => {
  const large = `data: ${"x".repeat(3 * mostIdleBytes)}\n`;
  for (const chunk of [1_000, 65_536, 2 * large.length + 1])
    expect(read(`${large}${large}\n`, { chunk, limit: 10 * mostIdleBytes })).toMatchObject({
      events: [["message", expect.stringMatching(/^x/)]],
      tooMuchIdle: 0,
    });
});

test("the limit is that of one event, not of the stream", () => {
  expect(read("data: 0123456789\n\n".repeat(50), { limit: 20, chunk: 3 })).toMatchObject({ tooLong: 0 });
});
