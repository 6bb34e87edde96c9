import { expect, test } from "vitest";

import { field } from "./fields.ts";
import { buildIndexPart } from "./index-part.ts";
import { createLanguage } from "./language.ts";
import { mergeParts, rarityOf } from "./merge.ts";
import { createPostings } from "./postings.ts";
import { sampleCatalog } from "../../../test/sample-catalog.ts";
import { rankingWeights } from "./weights.ts";

test("postings tell tool, field and count of every stem, and how many tools have it", () => {
  const builder = createPostings(2);
  builder.add(0, field.name, ["get", "issu"]);
  builder.add(0, field.description, ["issu", "issu", "repo"]);
  builder.add(1, field.name, ["issu"]);
  const built = builder.finish();
  const term = built.terms.indexOf("issu");
  const rows = Array.from(built.postingTool.subarray(built.termStart[term], built.termStart[term + 1]));
  const packed = Array.from(built.postingField.subarray(built.termStart[term], built.termStart[term + 1]));
  expect(rows).toEqual([0, 0, 1]);
  expect(packed.map((value) => [value >> 4, value & 15])).toEqual([
    [field.name, 1],
    [field.description, 2],
    [field.name, 1],
  ]);
  expect(built.toolFrequency[term]).toBe(2);
});

test("a word said a thousand times is counted up to fifteen", () => {
  const builder = createPostings(1);
  builder.add(
    0,
    field.description,
    Array.from({ length: 1_000 }, () => "spam"),
  );
  expect((builder.finish().postingField[0] ?? 0) & 15).toBe(15);
});

test("merged parts count tools and frequencies over all of them", () => {
  const language = createLanguage();
  const index = mergeParts(
    sampleCatalog().map((part) => buildIndexPart(part, language)),
    language,
  );
  expect(index.toolCount).toBe(9);
  const page = index.terms.get(language.stem("page")) ?? -1;
  expect(index.rarity[page]).toBeCloseTo(rarityOf(2, 9, language.commonness("page"), rankingWeights), 10);
  expect(mergeParts([], language).toolCount).toBe(0);
});

test("rare words say more than common ones, here and in the world of tools", () => {
  expect(rarityOf(1, 100, 0, rankingWeights)).toBeGreaterThan(rarityOf(50, 100, 0, rankingWeights));
  expect(rarityOf(1, 100, 0, rankingWeights)).toBeGreaterThan(rarityOf(1, 100, 0.4, rankingWeights));
});
