import { once } from "node:events";
import { expect, test } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { until } from "../../../../test/harness/until.ts";
import { createPacedEvents } from "./paced-events.ts";

const opened = createResponses();
const megabytes = (count: number): Buffer => Buffer.alloc(count * 1_048_576, "x");

/** Events to a client that does not read before it is told to. */
async function open() {
  const { response, client, received } = await opened();
  const freed: unknown[] = [];
  const events = createPacedEvents(response, {
    free: () => undefined,
    adopt: () => undefined,
    written: (pieces) => void freed.push(pieces),
  });
  response.flushHeaders();
  return { events, response, client: await client(), received, freed };
}

test("line ends within a message begin a new data line, wherever its pieces are cut; large ones are let go once written", async () => {
  const { events, client, received, freed } = await open();
  client.resume();
  const pieces = ['{"a":[\n1,', Buffer.from("\r\n2,\n\n3\r,4"), Buffer.from("5\n"), "]}"];
  events.send(pieces);
  events.send('{\r"b":1}');
  await until(() => received().endsWith('"b":1}\n\n'));
  const [first = "", second = ""] = received().trimEnd().split("\n\n");
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
  const { events, client } = await open();
  expect(events.room()).toBeUndefined();
  events.send([megabytes(30)]);
  const waits = Array.from({ length: 64 }, () => events.room());
  expect(waits.every((wait) => wait !== undefined)).toBe(true);
  expect(() => events.room()).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  client.resume();
  for (const wait of waits) await wait;
  expect(events.room()).toBeUndefined();
});

test("a client that leaves with much to read holds nobody up", async () => {
  const { events, client } = await open();
  events.send([megabytes(30)]);
  const wait = events.room();
  expect(wait).toBeDefined();
  client.destroy();
  await wait;
  expect(events.over).toBe(true);
});

test("a client for which too much waits is left; what is sent then goes nowhere", async () => {
  const { events, response, freed } = await open();
  for (let count = 0; count < 4; count += 1) events.send([megabytes(30)]);
  expect([events.over, response.destroyed]).toEqual([true, true]);
  events.send("{}");
  events.send([megabytes(1)]);
  expect(freed).toEqual([]);
  expect(events.room()).toBeUndefined();
});

test("after its end nothing is sent any more", async () => {
  const { events, response, client, received } = await open();
  events.write(": a comment\n\n");
  response.end();
  events.send("{}");
  client.resume();
  await once(client, "end");
  expect(received()).toBe(": a comment\n\n");
});
