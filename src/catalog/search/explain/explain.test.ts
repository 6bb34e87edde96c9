import { expect, test } from "vitest";
import { toParts } from "../../../../bench/retrieval/data.ts";
import { readPublicTools } from "../../../../test/servers/public-tools.ts";
import type { ServerSlug } from "../../../kernel/ids.ts";
import { sampleCatalog, sampleInstance } from "../../../../test/sample-catalog.ts";
import { explain } from "./explain.ts";
import type { ExplainedTool, Explanation } from "./explanation.ts";
import { buildIndexParts } from "../index/index-part.ts";
import { createLanguage } from "../language.ts";
import type { Lesson } from "../learning/learned.ts";
import { mergeParts, toolAt, type MergeOptions, type SearchIndex } from "../index/merge.ts";
import { phrasesFrom, readBook } from "../language/phrase-book.ts";
import { phraseTexts } from "../language/phrase-texts.ts";
import { search, type SearchOptions } from "../rank.ts";
import type { InstanceCatalog } from "../../model/snapshot.ts";

const language = createLanguage();

function indexOf(catalog: readonly InstanceCatalog[], options?: MergeOptions): SearchIndex {
  return mergeParts(
    catalog.flatMap((part) => [...buildIndexParts(part, language, phrasesFrom(undefined))]),
    language,
    options,
  );
}

const small = indexOf(sampleCatalog());

/**
 * The tools of all servers that the phrase book knows, without one phrase each. That of every other tool is a question:
 * all of them would take a minute.
 */
function bookCatalog(): { readonly catalog: readonly InstanceCatalog[]; readonly questions: readonly string[] } {
  const questions: string[] = [];
  const catalog = phraseTexts.map((text, number) =>
    sampleInstance(
      `server-${number}`,
      readBook(text).map(({ name, phrases }, at) => {
        if (at % 2 === 0) questions.push(...phrases.filter((_, place) => place % 2 === 1));
        const said = phrases.filter((_, place) => place % 2 === 0);
        const properties = Object.fromEntries(said.map((phrase, place) => [`p${place}`, { description: phrase }]));
        return {
          name,
          description: said.join(". "),
          inputSchema: { type: "object", properties },
          ...(at % 3 === 0 ? { annotations: { readOnlyHint: true } } : {}),
          ...(at % 5 === 0 ? { _meta: { "toolyard/phrases": phrases.slice(0, 1) } } : {}),
        };
      }),
      `All about ${number}`,
    ),
  );
  return { catalog, questions };
}

/** Every share there is. */
function sharesOf({ words, phrases, coverage, intent, serverFit, learned }: Explanation): number[] {
  return [...words, ...phrases, coverage, intent, serverFit, learned].map(({ share }) => share);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function expectSame(index: SearchIndex, query: string, options: SearchOptions): void {
  const plain = search(index, query, options);
  const explained = explain(index, query, options);
  expect({
    ...explained,
    tools: explained.tools.map(({ tool, score, distance }) => ({ tool: tool.path, score, distance })),
  }).toEqual({
    ...plain,
    tools: plain.tools.map(({ tool, score, distance }) => ({ tool: tool.path, score, distance })),
  });
  for (const { explanation } of explained.tools) {
    expect(sumOf(sharesOf(explanation))).toBeCloseTo(1, 9);
    for (const { share, found } of explanation.words)
      expect(sumOf(found.map((one) => one.share))).toBeCloseTo(share, 9);
  }
}

test("over every tool of the phrase book: the ranker's order and scores, explained to the last digit", () => {
  const { catalog, questions } = bookCatalog();
  const index = indexOf(catalog, { boundedFrom: 1_000 });
  expect(index.toolCount).toBeGreaterThan(1_000);
  expect(index.refMost).toBeDefined();
  expect(questions.length).toBeGreaterThan(1_000);
  const lessons: readonly Lesson[] = [
    { likeness: 0.9, odds: 0 },
    { likeness: 0.4, odds: 50 },
    { likeness: 0, odds: 30 },
  ];
  for (const [number, question] of questions.entries()) {
    // Spelt wrong now and then, and longer: two questions in one.
    const query =
      number % 7 === 0
        ? question.replace(/([a-z])([a-z])(?=[a-z]{3})/, "$2$1")
        : number % 11 === 0
          ? `${question} and ${questions[(number * 31) % questions.length]}`
          : question;
    expectSame(index, query, {
      limit: (number % 50) + 1,
      ...(number % 3 === 0 ? { allow: (tool) => tool.definition.annotations?.readOnlyHint === true } : {}),
      ...(number % 4 === 0 ? { keepAll: true } : {}),
      ...(number % 5 === 0
        ? { learned: new Map([[(number * 17) % index.toolCount, lessons[number % 3] as Lesson]]) }
        : {}),
      ...(number % 13 === 0 ? { allow: (tool) => tool.path.length % 2 === 0 } : {}),
    });
  }
});

test("the same over the tools of public servers, asked with their own words and with what people say", () => {
  const tools = readPublicTools();
  const index = indexOf(toParts(tools));
  expect(index.toolCount).toBeGreaterThan(100);
  const asked = tools.flatMap(({ name, description }) => [name, description.split(/[.\n]/, 1)[0] as string]);
  for (const [number, query] of [...asked, ...bookCatalog().questions.slice(0, 500)].entries())
    expectSame(index, query, {
      limit: 10,
      ...(number % 6 === 0 ? { server: tools[number % 100]?.server as ServerSlug } : {}),
    });
});

test.each(["", "   ", "?!", "what can you do", "必应 搜索", "7", "xqzzy", "a".repeat(1_000), "the the the"])(
  "%j is explained as it is searched",
  (query) => expectSame(small, query, { limit: 10 }),
);

function best(query: string, options: Partial<SearchOptions> = {}, index = small): ExplainedTool {
  const [first] = explain(index, query, { limit: 10, ...options }).tools;
  if (first === undefined) throw new Error(`nothing was found for ${query}`);
  return first;
}

test("a word of the query names the word that the tool writes, how they belong together, and the fields", () => {
  const { tool, explanation } = best("create issues");
  expect(tool.path).toBe("github:create_issue");
  const issues = explanation.words.find(({ asked }) => asked === "issues");
  expect(issues?.found[0]).toMatchObject({ word: "issue", relation: "word" });
  expect(issues?.found[0]?.fields).toContain("name");
  expect(issues?.found[0]?.fields).toContain("description");
});

test("synonyms and hints say which word of the tool they led to", () => {
  const relations = best("umbrella today").explanation.words.flatMap(({ found }) => found);
  expect(relations.map(({ relation }) => relation)).toContain("hint");
  expect(relations.map(({ word }) => word)).toContain("weather");
  const removed = best("remove a repository").explanation.words.find(({ asked }) => asked === "remove");
  expect(removed?.found[0]).toMatchObject({ word: "delete", relation: "synonym" });
});

test("a misspelt word is called so", () => {
  const { explanation } = best("repositry");
  expect(explanation.words[0]).toMatchObject({
    asked: "repositry",
    found: [{ word: "repository", relation: "spelling" }],
  });
});

test("neighbours that are neighbours in the tool are a phrase, and a whole name is covered", () => {
  const { tool, explanation } = best("merge pull request");
  expect(tool.path).toBe("github:merge_pull_request");
  expect(explanation.phrases.map(({ asked, where }) => `${asked}: ${where}`)).toEqual([
    "merge pull: name",
    "pull request: name",
  ]);
  expect(explanation.coverage.ofName).toBeGreaterThan(0.9);
  expect(explanation.coverage.share).toBeGreaterThan(0);
  expect(explanation.words.map(({ asked }) => asked)).toContain("pull request");
});

test("a tool that does something else than is asked loses by it", () => {
  const { tools } = explain(small, "list repository issues", { limit: 10 });
  const byPath = new Map(tools.map(({ tool, explanation }) => [tool.path as string, explanation.intent]));
  expect(byPath.get("github:list_issues")).toEqual({ asked: ["read"], does: "read", share: 0 });
  expect(byPath.get("github:create_issue")).toMatchObject({ asked: ["read"], does: "create" });
  expect(byPath.get("github:create_issue")?.share).toBeLessThan(0);
});

test("what was learned is a share of its own, and a tool that no word leads to has nothing else", () => {
  const numbers = new Map(
    Array.from({ length: small.toolCount }, (_, number) => [toolAt(small, number).path as string, number]),
  );
  const learned = new Map([
    [numbers.get("weather:get_forecast") as number, { likeness: 0.9, odds: 0 }],
    [numbers.get("slack:slack_post_message") as number, { likeness: 0.8, odds: 40 }],
  ]);
  const { tools } = explain(small, "weather", { limit: 10, learned });
  const byPath = new Map(tools.map(({ tool, explanation }) => [tool.path as string, explanation]));
  const forecast = byPath.get("weather:get_forecast");
  expect(forecast?.learned.likeness).toBe(0.9);
  expect(forecast?.learned.share).toBeGreaterThan(0);
  expect(forecast?.words).not.toEqual([]);
  expect(byPath.get("slack:slack_post_message")).toMatchObject({ words: [], phrases: [], learned: { share: 1 } });
});

test("a word that is only in a tool's phrases is found there", () => {
  const index = indexOf([
    sampleInstance("kitchen", [
      {
        name: "start_timer",
        description: "Begins to count",
        _meta: { "toolyard/phrases": ["boil my breakfast eggs"] },
      },
    ]),
  ]);
  const { explanation } = best("breakfast", {}, index);
  expect(explanation.words[0]?.found[0]?.fields).toEqual(["phrases"]);
});
