import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { phraseLengthLimit } from "../../../kernel/call/tool-phrases.ts";
import { readBook } from "./phrase-book.ts";
import { phraseTexts } from "./phrase-texts.ts";

const folder = new URL("../phrases/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".txt"));

test("every file is in the book", () => {
  const texts = files.map((name) => readFileSync(new URL(name, folder), "utf8"));
  expect(files.length).toBeGreaterThan(0);
  expect([...phraseTexts].sort()).toEqual(texts.sort());
});

describe.each(files)("%s", (name) => {
  const lines = readBook(readFileSync(new URL(name, folder), "utf8"));

  test("has three different phrases per tool, none longer than counts, and a key for each", () => {
    for (const { keys, name: tool, phrases } of lines) {
      expect(new Set(phrases).size, tool).toBe(3);
      for (const phrase of phrases) expect(phrase.length, phrase).toBeLessThanOrEqual(phraseLengthLimit);
      expect(keys, tool).not.toContain("-");
      expect(keys, tool).toEqual([...new Set(keys)]);
    }
  });

  test("names no tool twice", () => {
    const names = lines.map((line) => line.name);
    expect(names).toEqual([...new Set(names)]);
  });
});
