import { expect, test } from "vitest";
import { cutPhrases, phraseLengthLimit, phraseLimit, phrasesIn, withoutPhrases } from "./tool-phrases.ts";

const definition = (given: unknown) => ({ name: "a", _meta: { "toolyard/phrases": given, other: 1 } });

test("phrases are read from _meta, without blanks and without what is no text", () => {
  expect(phrasesIn(definition([" report a bug ", "", "  ", 7, null, ["x"], "it crashed"]))).toEqual([
    "report a bug",
    "it crashed",
  ]);
});

test("what says nothing about phrases has none, an empty list says that there shall be none", () => {
  for (const given of [undefined, null, "report a bug", { 0: "report a bug" }])
    expect(phrasesIn(definition(given))).toBeUndefined();
  for (const meta of [undefined, null, "text", []]) expect(phrasesIn({ name: "a", _meta: meta })).toBeUndefined();
  expect(phrasesIn(definition([]))).toEqual([]);
});

test("no more and no longer phrases than count", () => {
  const many = Array.from({ length: 100 }, (_, at) => `${at} ${"x".repeat(1_000)}`);
  const kept = phrasesIn(definition(many)) ?? [];
  expect(kept).toHaveLength(phraseLimit);
  expect(kept.map((phrase) => phrase.length)).toEqual(kept.map(() => phraseLengthLimit));
  expect(cutPhrases(["", ...many])).toEqual(kept);
});

test("_meta without phrases has everything else", () => {
  const meta = { a: 1 };
  expect(withoutPhrases(meta)).toBe(meta);
  expect(withoutPhrases({ ...meta, "toolyard/phrases": ["x"] })).toEqual(meta);
});
