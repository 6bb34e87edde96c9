import { expect, test } from "vitest";
import { degradedText } from "./search-words.ts";

test.each([
  ["embeddings", "without embeddings, because they did not answer in time"],
  ["indexing", "while some tools are still being indexed"],
  ["whatever a later engine says", "without whatever a later engine says"],
])("a search that lacks %s says so in words", (what, text) => {
  expect(degradedText(what)).toBe(text);
});
