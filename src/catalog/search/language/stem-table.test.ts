import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLanguage } from "../language.ts";
import { createStemList, createStemTable, type StemTable } from "./stem-table.ts";
import { isSeparator, toWords } from "./words.ts";

const language = createLanguage();
const create = (wordLimit = 50_000) =>
  createStemTable({ stem: language.stem, isStopword: language.isStopword, wordLimit });

function read(table: StemTable, text: string): string[] {
  const list = createStemList();
  table.telling(text, list);
  return Array.from(list.numbers.subarray(0, list.length), (number) => table.stems[number] as string);
}

/** Words as definitions have them, in any script. */
const piece = fc.oneof(
  fc.constantFrom("the", "GitHub", "getHTTPServer", "issues", "snake_case", "v2Api", "PowerPointFile", "—", "’s", "→"),
  fc.constantFrom("Café", "查询天气", "ＣＡＦＥ", "naïveÜber", "\u00a0", "\u0301", "🙂", "\ud800", "x".repeat(60)),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const anyText = fc
  .array(fc.tuple(piece, fc.constantFrom(" ", "", "-", "\n")), { maxLength: 30 })
  .map((pieces) => pieces.map(([word, gap]) => word + gap).join(""));

test("any text has the stems that it has for a query, known words or not", () => {
  const table = create();
  fc.assert(
    fc.property(anyText, (text) => {
      expect(read(table, text)).toEqual(language.telling(text));
    }),
    { numRuns: 2_000 },
  );
});

test("a whole book of words, and words that are forgotten on the way, make no difference", () => {
  const text = readFileSync("docs/search.md", "utf8");
  const table = create(100);
  let forgotten = 0;
  for (const line of text.split("\n")) {
    if (table.trim()) forgotten += 1;
    expect(read(table, line)).toEqual(language.telling(line));
  }
  expect(forgotten).toBeGreaterThan(2);
});

test("what was forgotten is numbered anew, and a small table keeps what it has", () => {
  const table = create(3);
  read(table, "create issue");
  expect(table.trim()).toBe(false);
  expect(table.stems.length).toBe(2);
  read(table, "pull request review");
  expect(table.trim()).toBe(true);
  expect(read(table, "review")).toEqual(["review"]);
  expect(table.stems.length).toBe(1);
});

test("a single word is read whole, a stopword too", () => {
  const table = create();
  const list = createStemList();
  for (const word of ["the", "issues", "größe", `${"a".repeat(48)}b`]) table.word(word, list);
  const stems = Array.from(list.numbers.subarray(0, list.length), (number) => table.stems[number]);
  expect(stems).toEqual(["the", "issues", "größe", `${"a".repeat(48)}b`].map(language.stem));
});

test("characters that are taken for gaps at once are gaps where all of Unicode is looked at", () => {
  for (let code = 128; code < 0x10000; code += 1) {
    if (!isSeparator(code)) continue;
    const gap = String.fromCharCode(code);
    // A letter beyond ASCII makes the whole text be read the long way.
    for (const text of [`a${gap}b`, `aB${gap}Cd`, `${gap}x`, `1${gap}2`, `AB${gap}c`])
      expect(toWords(text), code.toString(16)).toEqual(toWords(`${text} é`).slice(0, -1));
  }
});

test("a number of its own for each of a hundred thousand tools makes no other word be read again", () => {
  const stemmed: string[] = [];
  const stem = (word: string): string => {
    if (!word.startsWith("9")) stemmed.push(word);
    return word;
  };
  const table = createStemTable({ stem, isStopword: () => false });
  let stems = 0;
  for (let tool = 0; tool < 100_000; tool += 1) {
    const list = createStemList();
    table.telling(`Sends a message, number 9${tool}`, list);
    stems += list.length;
    table.trim();
  }
  expect(stems).toBe(500_000);
  expect(stemmed).toEqual(["sends", "a", "message", "number"]);
});
