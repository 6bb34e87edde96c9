import { expect, test } from "vitest";

import { sampleCatalog } from "../../../test/sample-catalog.ts";
import { fuseRanks } from "./rank-fusion.ts";

const tools = sampleCatalog().flatMap((part) => part.tools);

function ranking(...places: readonly number[]) {
  return places.map((place) => ({ tool: tools[place] as (typeof tools)[number], score: 0, distance: 0.5 }));
}

test("what both rankings like comes first; first in both is a perfect match", () => {
  const fused = fuseRanks([ranking(0, 1, 2), ranking(0, 3, 1)]);
  expect(fused.map(({ tool }) => tools.indexOf(tool))).toEqual([0, 1, 3, 2]);
  expect(fused[0]?.distance).toBe(0);
  expect(fuseRanks([ranking(0, 1, 2), ranking(0, 1, 2)], 0.6)[0]?.distance).toBeCloseTo(0.4);
  expect(fused[3]?.distance).toBeGreaterThan(0.4);
});

test("one ranking alone keeps its order", () => {
  expect(fuseRanks([ranking(4, 2, 5), []]).map(({ tool }) => tools.indexOf(tool))).toEqual([4, 2, 5]);
});
