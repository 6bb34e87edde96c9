import { expect, test } from "vitest";

import { sampleCatalog } from "../../../../test/sample-catalog.ts";
import type { Match } from "./confidence.ts";
import { buildIndexPart } from "../index/index-part.ts";
import { createLanguage } from "../language.ts";
import { mergeParts } from "../index/merge.ts";
import { search, type SearchOptions } from "../rank.ts";

const language = createLanguage();
const index = mergeParts(
  sampleCatalog().map((part) => buildIndexPart(part, language)),
  language,
);

function ask(query: string, options: Partial<SearchOptions> = {}): { match: Match; distance: number } {
  const { match, tools } = search(index, query, { limit: 10, ...options });
  return { match, distance: tools[0]?.distance ?? 1 };
}

test("questions that a tool was made for are matched well", () => {
  for (const query of ["create an issue", "merge a pull request", "weather forecast", "take a screenshot of the page"])
    expect(ask(query).match, query).toBe("good");
});

test("questions that no tool was made for are not, whatever words they share with one", () => {
  for (const query of ["how many orders are there", "translate hello to French", "book a flight to Paris"])
    expect(ask(query).match, query).toBe("none");
  for (const query of ["transcribe a podcast", "create a playlist with jazz", "play some music"])
    expect(ask(query).match, query).not.toBe("good");
});

test("distance 0: the tool has every word that the catalog knows, and the catalog knows every important one", () => {
  expect(ask("create issue").distance).toBe(0);
  // Another tool of the catalog has the other word; then nobody has it.
  expect(ask("create issue forecast").distance).toBeGreaterThan(0);
  expect(ask("create an issue about kumquats").distance).toBeGreaterThan(0);
  // What is conversational, or a number, may be unknown.
  expect(ask("please create 17 issues tonight").distance).toBe(0);
});

test("the distance and the word for it agree", () => {
  for (const query of [
    "create issue",
    "create a playlist",
    "how many orders are there",
    "repository",
    "post a photo",
  ]) {
    const { match, distance } = ask(query);
    if (match === "good") expect(distance, query).toBeLessThan(0.5);
    if (match === "none") expect(distance, query).toBeGreaterThan(0.8);
  }
});

test("a question of stopwords only, or of unknown words, is met by nothing", () => {
  expect(ask("what can you do with this")).toMatchObject({ match: "none" });
  expect(ask("zzyzx qqqq")).toEqual({ match: "none", distance: 1 });
});

test("the filters of a search count: what another server has does not", () => {
  expect(ask("create issue", { allow: (tool) => tool.server === "weather" }).match).not.toBe("good");
});

test("what was learned from use is known", () => {
  const slack = sampleCatalog()
    .flatMap((part) => part.tools)
    .findIndex((tool) => tool.path === "slack:slack_post_message");
  const learned = new Map([[slack, { likeness: 0.9, odds: 0 }]]);
  expect(ask("standup retrospective").match).toBe("none");
  expect(ask("standup retrospective", { learned }).match).not.toBe("none");
});
