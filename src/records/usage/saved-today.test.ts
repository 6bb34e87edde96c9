import { expect, test } from "vitest";
import type { FindingSession } from "./finding.ts";
import { sumSaved } from "./finding-history.ts";

const session = (facts: Partial<FindingSession>): FindingSession => ({
  principal: "local",
  client: "cursor",
  exposure: "meta",
  startedMs: 1_000,
  isLazy: false,
  saved: { tokens: 40_000, isExact: true },
  spent: 0,
  ...facts,
});

test("what today's conversations saved is summed, less what finding cost in them", () => {
  expect(sumSaved([session({}), session({ spent: 500 })], 1_000)).toEqual({
    sessions: 2,
    unknown: 0,
    tokens: 79_500,
    isExact: false,
  });
  expect(sumSaved([session({})], 1_000)).toEqual({ sessions: 1, unknown: 0, tokens: 40_000, isExact: true });
});

test("yesterday's, those of clients that load lazily, and those not counted yet are left out of the sum", () => {
  const left = [session({ startedMs: 999 }), session({ isLazy: true }), session({ saved: undefined })];
  expect(sumSaved(left, 1_000)).toEqual({ sessions: 0, unknown: 1, tokens: 0, isExact: true });
});

test("where finding cost more than it saved, that is said too", () => {
  expect(sumSaved([session({ saved: { tokens: -30, isExact: true }, spent: 200 })], 0).tokens).toBe(-230);
});
