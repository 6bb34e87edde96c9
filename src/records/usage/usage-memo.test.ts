import { beforeEach, expect, test } from "vitest";
import type { UsageQuery, UsageSum } from "../../store/record-store.ts";
import { createUsageMemo, type UsageMemo } from "./usage-log.ts";

let memo: UsageMemo;
beforeEach(() => void (memo = createUsageMemo({ now: () => 0 })));

const about = (tool: string): UsageQuery => ({ fromMs: 0, toMs: 1, by: [], limit: 100, tool });
const zero = {
  lastHourMs: 0,
  calls: 1,
  errors: 0,
  durationMsSum: 0,
  durationMsMax: 0,
  argumentTokens: 0,
  resultTokens: 0,
  cut: 0,
};
const sumsOf = (count: number): UsageSum[] =>
  Array.from({ length: count }, (_, at) => ({ group: [`${at}`], ...zero, buckets: [] }));
const known = (names: readonly string[]): readonly string[] => names.filter((name) => memo.get(about(name)));

test("what was asked the longest time ago makes room, and not what was first asked", () => {
  const names = Array.from({ length: 200 }, (_, at) => `tool-${at}`);
  memo.set(about("often"), []);
  for (const name of names) {
    memo.set(about(name), []);
    expect(memo.get(about("often"))).toEqual([]);
  }
  expect(known(names)).toEqual(names.slice(-127));
});

test("large answers take the room of many, also when one is set again", () => {
  const names = Array.from({ length: 20 }, (_, at) => `tool-${at}`);
  for (let round = 0; round < 3; round += 1) for (const name of names) memo.set(about(name), sumsOf(1_000));
  expect(known(names)).toEqual(names.slice(-16));
  memo.set(about("huge"), sumsOf(1_001));
  expect(known([...names, "huge"])).toEqual(names.slice(-16));
  memo.clear();
  for (const name of names.slice(0, 16)) memo.set(about(name), sumsOf(1_000));
  expect(known(names)).toEqual(names.slice(0, 16));
});
