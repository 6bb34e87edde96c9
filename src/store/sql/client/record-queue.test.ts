import { expect, test } from "vitest";
import { lineOf, requestOf, usageOf } from "../../../../test/harness/records.ts";
import { type AnyRow, createRecordQueue, defaultQueueLimits } from "./record-queue.ts";
import { rowsFromText } from "../row-text.ts";

let last = 0;
const ids = { nextId: () => (last += 1) };
const same = (row: AnyRow): AnyRow => row;

test("what waits is bounded in the length of its names too, and so is each batch", () => {
  const queue = createRecordQueue(defaultQueueLimits, 1_000);
  let taken = 0;
  while (taken < 2_000 && queue.add("request", requestOf(ids, { name: `files://${taken}/`.padEnd(65_536, "x") })))
    taken += 1;
  expect(taken).toBeGreaterThan(450);
  expect(taken).toBeLessThanOrEqual(512);
  expect(queue.dropped.queue).toBe(1);
  let rows = 0;
  for (let batch = queue.take("request", same); batch !== undefined; batch = queue.take("request", same)) {
    expect(batch.text.length).toBeLessThan(5 * 1_024 * 1_024);
    rows += batch.count;
  }
  expect(rows).toBe(taken);
  expect(queue.add("request", requestOf(ids))).toBe(true);
});

test.each([
  ["client", () => requestOf(ids, { client: "x".repeat(600) })],
  ["method", () => requestOf(ids, { method: "x".repeat(600) })],
  ["principal", () => requestOf(ids, { principal: "x".repeat(600) })],
])("a call with a long %s takes its room", (_, make) => {
  const queue = createRecordQueue({ rows: 10, characters: 1_000 }, 1_000);
  expect(queue.add("request", make())).toBe(true);
  expect(queue.add("request", make())).toBe(false);
});

test("long texts of other rows take their room, and give it back", () => {
  const queue = createRecordQueue({ rows: 10, characters: 1_000 }, 1_000);
  expect(queue.add("usage", usageOf({ client: "x".repeat(600) }))).toBe(true);
  expect(queue.add("log", lineOf(ids, { line: "x".repeat(600) }))).toBe(false);
  expect(queue.take("usage", same)?.count).toBe(1);
  expect(queue.add("log", lineOf(ids, { line: "x".repeat(600) }))).toBe(true);
});

test.each(["request", "log"] as const)(
  "a batch of kind %s whose rows cannot be told is counted as lost, once",
  (kind) => {
    const queue = createRecordQueue(defaultQueueLimits, 1_000);
    const add = (): boolean => (kind === "log" ? queue.add("log", lineOf(ids)) : queue.add("request", requestOf(ids)));
    for (let at = 0; at < 3; at += 1) add();
    let isSettled = false;
    queue.whenSettled(() => (isSettled = true));
    const refuse = (): never => {
      throw new Error("no");
    };
    expect(queue.take(kind, refuse)).toBeUndefined();
    expect(isSettled).toBe(true);
    expect(queue).toMatchObject({ waiting: 0, sent: 0, dropped: { row: 3 } });
    // Those that come after it are sent, and nothing of those before.
    add();
    const batch = queue.take(kind, same);
    expect(rowsFromText(kind, batch?.text ?? "")).toMatchObject([{ id: last }]);
    expect(queue).toMatchObject({ waiting: 0, sent: 1, dropped: { row: 3 } });
  },
);
