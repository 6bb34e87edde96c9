import { expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { buildIndexPart } from "../index/index-part.ts";
import { createLanguage, type Language } from "../language.ts";
import { mergeParts, type SearchIndex } from "../index/merge.ts";
import { planQuery } from "./query.ts";
import { emptyScores, scoreGroups } from "./score.ts";

const subjects = ["issue", "page", "file", "invoice", "event", "branch", "message"];

function indexOf(language: Language, size: number, shift = 0): SearchIndex {
  const tools = Array.from({ length: size }, (_, at) => ({
    name: `${at % 2 === 0 ? "list" : "create"}_${subjects[(at * 5 + shift) % subjects.length]}_${at}`,
    description: `Word${at % 900} and word${(at * 7) % 900} of every ${subjects[at % subjects.length]}`,
  }));
  return mergeParts([buildIndexPart(sampleInstance("server", tools), language)], language);
}

function scoresOf(index: SearchIndex, query: string): { readonly scores: number[]; readonly matched: number[] } {
  const into = emptyScores(index);
  scoreGroups(index, planQuery(index, query).groups, into);
  return { scores: [...into.scores], matched: [...into.matched] };
}

const queries = ["list the issues", "make a page", "word3 of a branch", "send a message about word4", "nothing known"];

test("words that were asked for before count what they count the first time", () => {
  const index = indexOf(createLanguage(), 60);
  const once = queries.map((query) => scoresOf(indexOf(createLanguage(), 60), query));
  for (const _round of [1, 2, 3]) expect(queries.map((query) => scoresOf(index, query))).toEqual(once);
  expect(once[0]?.scores.filter((score) => score > 0).length).toBeGreaterThan(5);
});

test("two indexes of one language keep their words apart", () => {
  const language = createLanguage();
  const [one, other] = [indexOf(language, 60), indexOf(language, 40, 3)];
  for (const query of queries) {
    expect(scoresOf(one, query)).toEqual(scoresOf(indexOf(createLanguage(), 60), query));
    expect(scoresOf(other, query)).toEqual(scoresOf(indexOf(createLanguage(), 40, 3), query));
  }
});

test("more words than are remembered count the same after they were forgotten", () => {
  const language = createLanguage();
  const said = Array.from({ length: 30 }, (_, at) => `said${at}`);
  const tools = Array.from({ length: 20_000 }, (_, at) => ({ name: `tool${at % 7}`, description: said.join(" ") }));
  const index = mergeParts([buildIndexPart(sampleInstance("server", tools), language)], language);
  const first = scoresOf(index, "tool3 said1");
  // Ten bytes for each of its tools, and every tool has these: six million bytes, of which four are remembered.
  for (const word of said) scoresOf(index, word);
  expect(scoresOf(index, "tool3 said1")).toEqual(first);
});

test("the scores of an index with more tools than 16 bits can number are those of its tools", () => {
  const index = indexOf(createLanguage(), 66_000);
  const { scores } = scoresOf(index, "word899");
  const found = scores.flatMap((score, tool) => (score > 0 ? [tool] : []));
  const expected = scores.flatMap((_score, tool) => (tool % 900 === 899 || (tool * 7) % 900 === 899 ? [tool] : []));
  expect(found).toEqual(expected);
});
