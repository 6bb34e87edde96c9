import { expect, test } from "vitest";
import { createRenewalBudget } from "./renewal-budget.ts";

test("sessions that are lost unused are renewed with growing delays", () => {
  let nowMs = 0;
  const budget = createRenewalBudget(() => nowMs);
  const taken: number[] = [];
  for (; nowMs < 120_000; nowMs += 500) if (budget.take() === "now") taken.push(nowMs);
  expect(taken).toEqual([0, 1_000, 5_000, 21_000, 81_000]);
});

test("a session that was of use may be replaced at once, ten times a minute", () => {
  let nowMs = 0;
  const budget = createRenewalBudget(() => nowMs);
  const take = () => {
    nowMs += 100;
    const verdict = budget.take();
    if (verdict === "now") budget.noteProven();
    return verdict;
  };
  expect(Array.from({ length: 12 }, take)).toEqual([...Array<string>(10).fill("now"), "exhausted", "exhausted"]);
  nowMs += 60_000;
  expect(take()).toBe("now");
});
