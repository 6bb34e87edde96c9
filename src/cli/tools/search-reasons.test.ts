import { expect, test } from "vitest";
import type { Explanation } from "../../catalog/search/explain/explanation.ts";
import { toReasons } from "./search-reasons.ts";

const learnedOnly = (likeness: number): Explanation => ({
  words: [],
  phrases: [],
  coverage: { ofName: 0, share: 0 },
  intent: { asked: [], does: null, share: 0 },
  serverFit: { share: 0 },
  learned: { likeness, share: 1 },
});

test("what was learned is said to be of one earlier question, or of the words of many", () => {
  expect(toReasons(learnedOnly(0.4))).toEqual(["learned (40 % like an earlier question) 100 %"]);
  expect(toReasons(learnedOnly(0))).toEqual(["learned (by words of earlier questions) 100 %"]);
});
