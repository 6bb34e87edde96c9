import { expect, test } from "vitest";

import { field } from "../language/fields.ts";
import { buildIndexPart } from "./index-part.ts";
import { createLanguage } from "../language.ts";
import { mergeParts, rarityOf } from "./merge.ts";
import { createPostings, packed, type Postings, type PostingsBuilder } from "./postings.ts";
import { createStemTable, type StemList } from "../language/stem-table.ts";
import { sampleCatalog, sampleInstance } from "../../../../test/sample-catalog.ts";
import { rankingWeights } from "../language/weights.ts";

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

function stemsOf({ stems: all, memory, terms, termCount }: Postings): string[] {
  return Array.from(memory.subarray(terms, terms + termCount), (number) => all[number] as string);
}

function postingsOf({ memory, termStart }: Postings, term: number): number[] {
  return Array.from(memory.subarray(memory[termStart + term], memory[termStart + term + 1]));
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
  const contentOf = (part: Postings) => stemsOf(part).map((stem, term) => [stem, ...postingsOf(part, term)]);
  expect(again.map(contentOf)).toEqual(alone.map(contentOf));
  const last = packed.of(69_999, field.name, 1);
  expect(alone[1] && contentOf(alone[1]).at(-1)).toEqual(["tool69999", last]);
  expect(alone[2]?.termCount).toBe(3_002);
});

test("postings tell tool, field and count of every stem, and how many tools have it", () => {
  const builder = createBuilder(2);
  builder.add(0, field.name, stems(builder, "get", "issu"));
  builder.add(0, field.description, stems(builder, "issu", "issu", "repo"));
  builder.add(1, field.name, stems(builder, "issu"));
  const built = builder.finish();
  const term = stemsOf(built).indexOf("issu");
  expect(postingsOf(built, term).map((one) => [packed.tool(one), packed.field(one), packed.count(one)])).toEqual([
    [0, field.name, 1],
    [0, field.description, 2],
    [1, field.name, 1],
  ]);
  expect(built.memory[built.toolFrequency + term]).toBe(2);
});

test("a word said a thousand times is counted up to fifteen", () => {
  const builder = createBuilder(1);
  builder.add(0, field.description, stems(builder, ...Array.from({ length: 1_000 }, () => "spam")));
  expect(postingsOf(builder.finish(), 0).map(packed.count)).toEqual([15]);
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

test("parts that were made before words were forgotten are merged with those made after", () => {
  const language = createLanguage();
  const texts = Array.from({ length: 4 }, (_, part) =>
    Array.from({ length: 55_000 }, (_word, at) => `thing${(at + part * 40_000) % 140_000}x`).join(" "),
  );
  // Five thousand characters of a text are read, so that it takes many tools to say so much.
  const offers = texts.map((text, part) =>
    sampleInstance(
      `server${part}`,
      (text.match(/.{1,5000}(?: |$)/g) ?? []).map((description, at) => ({ name: `tool${at}`, description })),
    ),
  );
  const parts = offers.map((offer) => buildIndexPart(offer, language));
  expect(new Set(parts.map(({ stems: shared }) => shared)).size).toBeGreaterThan(1);
  const index = mergeParts(parts, language);
  const alone = mergeParts(
    offers.map((offer) => buildIndexPart(offer, createLanguage())),
    language,
  );
  expect([...index.terms]).toEqual([...alone.terms]);
  expect(index.rarity).toEqual(alone.rarity);
  expect(index.refTerm).toEqual(alone.refTerm);
  expect(index.postings).toEqual(alone.postings);
});

test("a misspelt word finds its tool in an index that is too large for a late look at spellings, too", () => {
  const language = createLanguage();
  const words = Array.from({ length: 5_200 }, (_, at) => `q${at.toString(36)}z${(at * 31).toString(36)}`);
  const instance = sampleInstance("large", [
    { name: "forecast_weather", description: "Tells the weather" },
    ...Array.from({ length: 52 }, (_, at) => ({
      name: `tool_${at}`,
      description: words.slice(at * 100, at * 100 + 100).join(" "),
    })),
  ]);
  const index = mergeParts([buildIndexPart(instance, language)], language);
  expect(index.terms.size).toBeGreaterThan(5_000);
  const [first] = index.spelling().similar("forcast", 4, 0.5);
  expect(first).toMatchObject({ stem: "forecast", term: index.terms.get("forecast") });
  expect(index.spelling()).toBe(index.spelling());
});
