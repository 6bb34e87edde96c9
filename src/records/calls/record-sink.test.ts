import { expect, test } from "vitest";
import type { RecordStore } from "../../store/record-store.ts";
import { createRecordSink } from "./record-sink.ts";

function fakeStore() {
  const rows: [string, object][] = [];
  let last = 0;
  const store = {
    nextId: () => (last += 1),
    append: (kind: string, row: object) => rows.push([kind, row]) > 0,
  } as unknown as RecordStore;
  return { store, rows };
}

const line = (text: string) => ({
  atMs: 1,
  team: null,
  instance: "i",
  server: "s",
  level: "info" as const,
  line: text,
});

test("rows wait for the store in their order, and then go straight to it", () => {
  const sink = createRecordSink();
  const { store, rows } = fakeStore();
  sink.append("log", line("first"));
  sink.append("log", line("second"));
  sink.open(store);
  sink.append("log", line("third"));
  expect(rows.map(([, row]) => row)).toEqual([
    { id: 1, ...line("first") },
    { id: 2, ...line("second") },
    { id: 3, ...line("third") },
  ]);
  expect(sink.dropped).toBe(0);
});

test("not more than a start makes may wait; the rest is dropped and counted", () => {
  const sink = createRecordSink();
  const { store, rows } = fakeStore();
  for (let n = 0; n < 2_500; n += 1) sink.append("log", line(String(n)));
  expect(sink.dropped).toBe(500);
  sink.open(store);
  expect(rows).toHaveLength(2_000);
});

test("without a store to come everything is dropped and counted", () => {
  const sink = createRecordSink();
  sink.append("log", line("waits"));
  sink.close();
  sink.append("log", line("late"));
  expect(sink.dropped).toBe(2);
});

test("rows that the store does not take are told of, one by one", () => {
  let lost = 0;
  const sink = createRecordSink(() => (lost += 1));
  const { store, rows } = fakeStore();
  sink.append("log", line("first"));
  sink.open(store);
  expect(lost).toBe(0);
  sink.open({ ...store, append: () => false });
  sink.append("log", line("second"));
  sink.append("log", line("third"));
  expect([lost, rows.length]).toEqual([2, 1]);
});
