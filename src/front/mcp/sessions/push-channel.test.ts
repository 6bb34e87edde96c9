import { once } from "node:events";
import { expect, test } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { until } from "../../../../test/harness/until.ts";
import { createPushChannel } from "./push-channel.ts";

const open = createResponses();

test("without a stream a message is lost, and says so", () => {
  const pushes = createPushChannel();
  expect([pushes.open, pushes.send("{}")]).toEqual([false, false]);
});

test("messages are events of the stream that the client opened", async () => {
  const pushes = createPushChannel();
  const { response, client, received } = await open();
  response.flushHeaders();
  pushes.attachStream(response);
  expect([pushes.open, pushes.send('{"a":1}')]).toEqual([true, true]);
  (await client()).resume();
  await until(() => received() === 'event: message\ndata: {"a":1}\n\n');
});

test("a client has one stream: a new one ends the one before", async () => {
  const pushes = createPushChannel();
  const [first, second] = [await open(), await open()];
  for (const { response } of [first, second]) {
    response.flushHeaders();
    pushes.attachStream(response);
  }
  const client = await first.client();
  client.resume();
  await once(client, "end");
  expect(pushes.send("{}")).toBe(true);
  (await second.client()).resume();
  await until(() => second.received().includes("data: {}"));
  expect(first.received()).toBe("");
});

test("a stream that its client has left is none", async () => {
  const pushes = createPushChannel();
  const { response, client } = await open();
  response.flushHeaders();
  pushes.attachStream(response);
  (await client()).destroy();
  await until(() => !pushes.open);
  expect(pushes.send("{}")).toBe(false);
});

test("FAULT 26: a client that opens a stream and does not read it loses it, and the memory stays bounded", async () => {
  const pushes = createPushChannel();
  const { response, client } = await open();
  response.flushHeaders();
  pushes.attachStream(response);
  await client();
  const megabyte = "x".repeat(1_048_576);
  let sent = 0;
  while (pushes.send(megabyte)) sent += 1;
  expect(sent).toBeLessThan(32);
  expect(response.destroyed).toBe(true);
  expect(pushes.open).toBe(false);
});

test("where there is one line for everything it takes all messages, as they are", () => {
  const pushes = createPushChannel();
  const sent: string[] = [];
  pushes.attachLine((message) => sent.push(message));
  expect([pushes.open, pushes.send("{}")]).toEqual([true, true]);
  expect(sent).toEqual(["{}"]);
});

test("the end of the session ends its stream", async () => {
  const pushes = createPushChannel();
  const { response, client } = await open();
  response.flushHeaders();
  pushes.attachStream(response);
  const reading = await client();
  reading.resume();
  pushes.end();
  await once(reading, "end");
  expect(pushes.open).toBe(false);
});
