import { expect, test } from "vitest";
import type { UsageQuery, UsageSum } from "../../store/record-store.ts";
import { readMostUsed } from "./most-used.ts";

const hourMs = 3_600_000;
const nowMs = 1_000 * hourMs;

function sum(tool: string, hour: number, calls = 1, errors = 0): UsageSum {
  const figures = {
    lastHourMs: 0,
    durationMsSum: 0,
    durationMsMax: 0,
    buckets: [],
    argumentTokens: 0,
    resultTokens: 0,
  };
  return { group: [tool, String(hour * hourMs)], calls, errors, cut: 0, ...figures };
}

async function mostUsed(sums: readonly UsageSum[], most = 5) {
  const asked: UsageQuery[] = [];
  const usage = {
    async read(query: UsageQuery) {
      asked.push(query);
      return { sums, sinceMs: null };
    },
  };
  return { tools: await readMostUsed(usage, { person: "anna", most, nowMs }), asked };
}

test("sessions count, and not calls: an hour is one, and one alone is none", async () => {
  const { tools, asked } = await mostUsed([
    sum("a:loop", 1, 5_000),
    sum("a:loop", 2, 5_000),
    ...[1, 2, 3].map((hour) => sum("b:often", hour)),
    sum("c:once", 1, 9_000),
  ]);
  expect(tools).toEqual(["b:often", "a:loop"]);
  expect(asked).toMatchObject([{ principal: "anna", by: ["tool", "hour"], fromMs: nowMs - 720 * hourMs }]);
});

test("what only failed, what is no tool, and what nobody could tell apart is left out", async () => {
  const sums = [1, 2].flatMap((hour) => [
    sum("a:broken", hour, 3, 3),
    sum("resources/read", hour),
    sum("other", hour),
    sum("a:fine", hour, 3, 2),
  ]);
  expect((await mostUsed(sums)).tools).toEqual(["a:fine"]);
});

test("as many as are asked for, in an order that does not change", async () => {
  const sums = ["d:x", "a:x", "c:x", "b:x"].flatMap((tool) => [sum(tool, 1), sum(tool, 2)]);
  expect((await mostUsed(sums, 3)).tools).toEqual(["a:x", "b:x", "c:x"]);
});
