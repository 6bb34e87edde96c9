import { expect, test } from "vitest";

import { sampleCatalog } from "../../../../test/sample-catalog.ts";
import type { Ranking, ScoredTool } from "../../search/rank.ts";
import { matchWithMeaning } from "./score-fusion.ts";

const [tool] = sampleCatalog().flatMap((part) => part.tools);

function scored(scores: readonly number[]): ScoredTool[] {
  if (tool === undefined) throw new Error("the sample catalog has tools");
  return scores.map((score) => ({ tool, score, distance: 1 - score }));
}

function worded(match: Ranking["match"], distance: number): Ranking {
  return { tools: scored([1]).map((one) => ({ ...one, distance })), total: 1, match };
}

/** Typical scores of an embedding model: every tool is fairly similar to every question. */
const alike = Array.from({ length: 200 }, (_, at) => 0.72 - at * 0.0002);

test("words decide while they find something", () => {
  for (const match of ["good", "weak"] as const)
    expect(matchWithMeaning(worded(match, 0.25), scored(alike))).toEqual({ match, closeness: 0.75 });
});

test("where words find nothing, meaning counts only when one tool stands out", () => {
  expect(matchWithMeaning(worded("none", 0.9), scored(alike)).match).toBe("none");
  expect(matchWithMeaning(worded("none", 0.9), scored([0.95, ...alike])).match).toBe("weak");
  expect(matchWithMeaning(worded("none", 0.9), []).match).toBe("none");
  expect(matchWithMeaning({ tools: [], total: 0, match: "none" }, scored([0.95, ...alike])).match).toBe("weak");
});
