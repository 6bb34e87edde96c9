import { expect, test } from "vitest";

import { sampleCatalog } from "../../../../test/sample-catalog.ts";
import type { ScoredTool } from "../../search/rank.ts";
import { fuseScores } from "./score-fusion.ts";

const tools = sampleCatalog().flatMap((part) => part.tools);
const options = { closeness: 1, depth: 100 };

/** Tools by their position in the sample catalog, each with its score, best first. */
function ranking(...scores: readonly (readonly [tool: number, score: number])[]): ScoredTool[] {
  return scores.map(([at, score]) => ({ tool: tools[at] as (typeof tools)[number], score, distance: 0.5 }));
}

function order(fused: readonly ScoredTool[]): number[] {
  return fused.map(({ tool }) => tools.indexOf(tool));
}

test("meaning decides between tools that words find about as good, and not between others", () => {
  const worded = ranking([0, 20], [1, 19], [2, 5]);
  const meant = ranking([2, 0.9], [1, 0.8], [0, 0.5]);
  expect(order(fuseScores(worded, meant, options))).toEqual([1, 0, 2]);
});

test("a model that finds everything alike changes nothing", () => {
  const worded = ranking([4, 20], [2, 19], [5, 18]);
  const meant = ranking([5, 0.721], [2, 0.72], [4, 0.719]);
  expect(order(fuseScores(worded, meant, options))).toEqual([4, 2, 5]);
});

test("a tool that only meaning finds stands behind those that fit by words; where words find nothing, meaning ranks", () => {
  const meant = ranking([7, 0.9], [6, 0.8], [0, 0.2]);
  expect(order(fuseScores(ranking([0, 20]), meant, options))).toEqual([0, 7, 6]);
  expect(order(fuseScores([], meant, options))).toEqual([7, 6, 0]);
});

test("a tool without a vector is no worse than others", () => {
  const worded = ranking([3, 20], [1, 20], [2, 20]);
  const meant = ranking([1, 0.9], [2, 0.5]);
  expect(order(fuseScores(worded, meant, options))).toEqual([1, 3, 2]);
});

test("the best has the distance that its closeness says, the others follow by score", () => {
  const fused = fuseScores(ranking([0, 20], [1, 10]), ranking([0, 0.5], [1, 0.5]), { closeness: 0.6, depth: 100 });
  expect(fused[0]?.distance).toBeCloseTo(0.4);
  expect(fused[1]?.distance).toBeCloseTo(1 - (0.6 * 0.65) / 1.15);
});
