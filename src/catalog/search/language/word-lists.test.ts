import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { wordLists, linesOf, wordsOf } from "./word-lists.ts";

const folder = new URL("../words/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".txt"));
/** Letters of every script, digits, and `_` where two words are one. */
const word = "[\\p{L}\\p{N}_.'-]+";

const forms = {
  strong: `${word}( ${word})+`,
  weak: `${word}( ${word})+`,
  hints: `${word}([+ ]${word})*: ${word}( ${word})*`,
  stopwords: `${word}( ${word})*`,
  fillers: `${word}( ${word})*`,
  actions: `${word}( ${word})*`,
  frequencies: "(\\d+:)?[a-z]+( (\\d+:)?[a-z]+)*",
} satisfies Record<keyof typeof wordLists, string>;

describe.each(Object.keys(forms) as (keyof typeof wordLists)[])("every line of the lists of %s", (kind) => {
  test("has the form of their notation, in lower case", () => {
    const form = new RegExp(`^${forms[kind]}$`, "u");
    const lines = linesOf(wordLists[kind]);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !form.test(line))).toEqual([]);
    expect(lines.filter((line) => line !== line.toLowerCase())).toEqual([]);
  });
});

test("every file is used, and its header names its notation", () => {
  const used = Object.values(wordLists).flat();
  for (const name of files) {
    const text = readFileSync(new URL(name, folder), "utf8");
    expect(used, name).toContain(text);
    expect(text, name).toMatch(
      /^(# .*\n)+# Notation: (groups|hints|words|frequencies) \(README\.md\)(, (strong|weak))?\.\n/,
    );
  }
  expect(used).toHaveLength(files.length);
});

test.each(["stopwords", "fillers", "actions"] as const)("no word stands twice among the %s", (kind) => {
  const words = wordsOf(wordLists[kind]);
  expect(words.filter((one, index) => words.indexOf(one) !== index)).toEqual([]);
});
