import { expect, test } from "vitest";

import { sampleCatalog, sampleInstance } from "../../../../test/sample-catalog.ts";
import { nameCoverage } from "./coverage.ts";
import { schemaTexts } from "../language/fields.ts";
import { buildIndexPart } from "../index/index-part.ts";
import { createLanguage } from "../language.ts";
import { mergeParts, toolAt, type SearchIndex } from "../index/merge.ts";
import { addPhrases, findPhrases } from "../phrases.ts";
import { planQuery, type Group } from "./query.ts";
import { emptyScores, scoreGroups } from "./score.ts";
import { fitServers } from "./server-fit.ts";

const language = createLanguage();
const index = mergeParts(
  sampleCatalog().map((part) => buildIndexPart(part, language)),
  language,
);

function numberOf(name: string): number {
  for (let tool = 0; tool < index.toolCount; tool += 1) if (toolAt(index, tool).definition.name === name) return tool;
  throw new Error(`no tool ${name}`);
}

function scoresOf(searched: SearchIndex, groups: readonly Group[]): Float64Array {
  const scored = emptyScores(searched);
  scoreGroups(searched, groups, scored);
  return scored.scores;
}

test("a schema gives the names, descriptions and enum values of all its parameters", () => {
  const schema = {
    type: "object",
    description: "not a parameter's",
    properties: {
      filter: { type: "object", properties: { state: { enum: ["open", "closed", 3], description: "which ones" } } },
      labels: { type: "array", items: { type: "object", properties: { colour: {} } } },
    },
    anyOf: [{ properties: { other: { description: "or this" } } }, "odd"],
  };
  expect(schemaTexts(schema)).toEqual({
    names: "filter state labels colour other",
    descriptions: "which ones or this",
    enums: "open closed",
  });
  expect(schemaTexts(null)).toEqual({ names: "", descriptions: "", enums: "" });
});

test("a query becomes groups: the word, and at lower weight what else it may be called", () => {
  const { stems, groups } = planQuery(index, "please show the latest forecast 7");
  expect(stems).toEqual(["latest", "forecast", "7"]);
  const forecast = groups.find(({ stem }) => stem === "forecast");
  expect(forecast?.members[0]).toMatchObject({ stem: "forecast", weight: 1 });
  expect(forecast?.members.find(({ stem }) => stem === "weather")?.weight).toBeLessThanOrEqual(1);
  expect(groups.find(({ stem }) => stem === "latest")?.weight).toBe(language.weights.filler);
  expect(groups.find(({ stem }) => stem === "7")?.weight).toBe(language.weights.number);
});

test("a synonym says no more than the word itself would", () => {
  const { groups } = planQuery(index, "repository");
  const [literal, ...others] = groups[0]?.members ?? [];
  for (const other of others) expect(other.rarity).toBeLessThanOrEqual(literal?.rarity ?? 0);
});

test("only stopwords: they are searched after all", () => {
  expect(planQuery(index, "go back to the").stems).toContain("back");
  expect(planQuery(index, "to the").stems).toEqual(["to", "the"]);
});

test("of a name that a word hints at, the rarest word leads; the others count only beside it", () => {
  const parts = [
    sampleInstance("kube", [
      { name: "port_forward", description: "Reach a service" },
      { name: "port_list", description: "What is open" },
      { name: "port_close", description: "End it" },
    ]),
  ];
  const kube = mergeParts(
    parts.map((part) => buildIndexPart(part, language)),
    language,
  );
  const { groups } = planQuery(kube, "tunnel");
  const member = (stem: string): boolean | undefined =>
    groups[0]?.members.find((one) => one.stem === stem)?.isCompanion;
  expect(member("forward")).toBe(false);
  expect(member("port")).toBe(true);
  const scores = scoresOf(kube, groups);
  expect(scores[0]).toBeGreaterThan(0);
  expect([scores[1], scores[2]]).toEqual([0, 0]);
});

test("a word in the name counts more than one in the description", () => {
  const scores = scoresOf(index, planQuery(index, "repository").groups);
  expect(scores[numberOf("delete_repository")]).toBeGreaterThan(scores[numberOf("create_issue")] ?? 0);
  expect(scores[numberOf("navigateBack")]).toBe(0);
});

test("neighbours of the query that are neighbours in a name count extra, half in a description or server", () => {
  const scores = new Float64Array(index.toolCount);
  addPhrases(index, findPhrases(index, ["pull", "request"].map(language.stem)), scores);
  expect([...scores].filter((score) => score > 0)).toHaveLength(1);
  const inName = scores[numberOf("merge_pull_request")] ?? 0;
  scores.fill(0);
  addPhrases(index, findPhrases(index, ["previous", "page"].map(language.stem)), scores);
  expect(scores[numberOf("navigateBack")]).toBeCloseTo(inName / 2, 10);
});

test("a name is covered when all of its words are asked for", () => {
  const coverageOf = nameCoverage(index, planQuery(index, "merge pull request"));
  expect(coverageOf(numberOf("merge_pull_request"))).toBeGreaterThan(0.9);
  expect(coverageOf(numberOf("delete_repository"))).toBe(0);
});

test("what a query asks to be done, and what a tool does", () => {
  expect([...language.purposes.ofQuery(["list", "and", "delete"])]).toEqual(["read", "delete"]);
  expect([...language.purposes.ofQuery(["when", "was", "it", "changed"])]).toEqual(["read"]);
  expect(language.purposes.ofName("github_removeLabel")).toBe("delete");
  expect(language.purposes.ofName("ping")).toBeUndefined();
});

test("a server with two good tools lifts both over a lone one", () => {
  const [create, list, lone] = [numberOf("create_issue"), numberOf("list_issues"), numberOf("navigateBack")];
  const fitted = fitServers(
    index,
    [create, list, lone].map((tool) => ({ tool, score: 1 })),
  );
  expect(fitted[0]?.score).toBe(fitted[1]?.score);
  expect(fitted[0]?.score).toBeGreaterThan(fitted[2]?.score ?? 0);
});
