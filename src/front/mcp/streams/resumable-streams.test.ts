import { expect, test } from "vitest";
import { createResumableStreams } from "./event-log.ts";

test("a stream is found again by the id of any of its events", () => {
  const streams = createResumableStreams("2025-11-25");
  const [one, two] = [streams.open(), streams.open()];
  expect(one?.id).not.toBe(two?.id);
  expect(streams.find(`${one?.id}_0`)).toEqual({ log: one, number: 0 });
  expect(streams.find(`${two?.id}_7`)).toEqual({ log: two, number: 7 });
});

test.each(["", "unknown_1", "unknown", "_1", "x_-1"])("%j is no event of these", (id) => {
  const streams = createResumableStreams("2025-11-25");
  streams.open();
  expect(streams.find(id)).toBeUndefined();
});

test("the streams of one session are its own", () => {
  const [mine, others] = [createResumableStreams("2025-11-25"), createResumableStreams("2025-11-25")];
  expect(others.find(`${mine.open()?.id}_0`)).toBeUndefined();
});

test("the last 16 are kept", () => {
  const streams = createResumableStreams("2025-11-25");
  const logs = Array.from({ length: 17 }, () => streams.open());
  const kept = logs.map((log) => streams.find(`${log?.id}_0`) !== undefined);
  expect(kept).toEqual([false, ...Array<boolean>(16).fill(true)]);
});

test.each(["2025-06-18", "2025-03-26", "2024-11-05"])("revision %s has none", (revision) => {
  expect(createResumableStreams(revision).open()).toBeUndefined();
});
