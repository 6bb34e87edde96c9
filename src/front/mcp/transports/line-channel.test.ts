import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { clientRequest } from "../../../../test/harness/legacy-front.ts";
import { createLineChannel, createLineWriter, createSubscriptionChannel } from "./line-channel.ts";

const never = new AbortController().signal;

test("each message is one line, however its server laid it out", () => {
  const output = new PassThrough();
  const send = createLineWriter(output, () => undefined);
  send('{"a":[\r\n1,\n\n2]}');
  send('{"b":"\u00e9"}');
  expect((output.read() as Buffer).toString("latin1")).toBe('{"a":[ 1, 2]}\n{"b":"\u00e9"}\n');
});

test("of a client that does not read it is told when 64 MiB wait, and not before", () => {
  const output = new PassThrough();
  let full = 0;
  const send = createLineWriter(output, () => (full += 1));
  const megabytes = "x".repeat(8 * 1_048_576);
  for (let count = 0; count < 8; count += 1) send(megabytes);
  expect(full).toBe(0);
  send("{}");
  expect(full).toBe(1);
});

test("a request gets what is said before its answer, its answer, and nothing after it", () => {
  const sent: string[] = [];
  const channel = createLineChannel('"a"', (message) => sent.push(message));
  expect(channel.send("{}")).toBe(true);
  channel.finish(['"result":', Buffer.from("{}")]);
  channel.finish('"result":{"again":true}');
  expect(channel.send("{}")).toBe(false);
  expect(sent).toEqual(["{}", '{"jsonrpc":"2.0","id":"a","result":{}}']);
});

test("a subscription that ends is answered and cancelled", () => {
  const sent: string[] = [];
  const channel = createSubscriptionChannel(clientRequest("subscriptions/listen", {}, "a"), never, (message) =>
    sent.push(message),
  );
  channel.finish('"result":{}');
  expect(sent).toEqual([
    '{"jsonrpc":"2.0","id":"a","result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}',
  ]);
});

test("one that its client cancelled gets nothing more", () => {
  const sent: string[] = [];
  const cancelled = new AbortController();
  const channel = createSubscriptionChannel(clientRequest("subscriptions/listen"), cancelled.signal, (message) =>
    sent.push(message),
  );
  cancelled.abort();
  channel.finish('"result":{}');
  expect(sent).toEqual([]);
});
