import { expect, test } from "vitest";

import { field } from "./fields.ts";
import { buildIndexPart } from "./index-part.ts";
import { createLanguage } from "./language.ts";
import { mergeParts, rarityOf } from "./merge.ts";
import { createPostings, type PostingsBuilder } from "./postings.ts";
import { createStemTable, type StemList } from "./stem-table.ts";
import { sampleCatalog } from "../../../test/sample-catalog.ts";
import { rankingWeights } from "./weights.ts";

function createBuilder(toolCount: number): PostingsBuilder {
  const builder = createPostings(createStemTable({ stem: (word) => word, isStopword: () => false, wordLimit: 5 }));
  builder.begin(toolCount);
  return builder;
}

function stems(builder: PostingsBuilder, ...words: readonly string[]): StemList {
  const list = builder.list("any");
  for (const word of words) builder.stems.word(word, list);
  return list;
}

test("a part is the same whatever was indexed before it in the same memory, and stays what it is", () => {
  const builder = createBuilder(2);
  const make = (toolCount: number, words: readonly string[]) => {
    builder.begin(toolCount);
    for (let tool = 0; tool < toolCount; tool += 1) {
      builder.add(tool, field.name, stems(builder, `tool${tool}`, ...words));
      builder.add(tool, field.phrases, stems(builder, "said", ...words));
    }
    return builder.finish();
  };
  const words = Array.from({ length: 3_000 }, (_, at) => `word${at}`);
  const alone = [make(3, ["a", "b"]), make(70_000, ["x"]), make(1, words)];
  const again = [make(3, ["a", "b"]), make(70_000, ["x"]), make(1, words)];
  const bytes = alone.map(({ postingTool, terms }) => [
    Buffer.from(postingTool.buffer).toString("base64"),
    terms.join(),
  ]);
  expect(
    again.map(({ postingTool, terms }) => [Buffer.from(postingTool.buffer).toString("base64"), terms.join()]),
  ).toEqual(bytes);
  expect(alone[1]?.postingTool).toBeInstanceOf(Uint32Array);
  expect(alone[2]?.terms).toHaveLength(3_002);
});

test("postings tell tool, field and count of every stem, and how many tools have it", () => {
  const builder = createBuilder(2);
  builder.add(0, field.name, stems(builder, "get", "issu"));
  builder.add(0, field.description, stems(builder, "issu", "issu", "repo"));
  builder.add(1, field.name, stems(builder, "issu"));
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
  const builder = createBuilder(1);
  builder.add(0, field.description, stems(builder, ...Array.from({ length: 1_000 }, () => "spam")));
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
