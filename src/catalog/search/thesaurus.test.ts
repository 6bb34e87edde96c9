import { expect, test } from "vitest";

import { createLanguage } from "./language.ts";
import { createThesaurus } from "./thesaurus.ts";
import { createSpellingIndex } from "./trigrams.ts";

const { stem } = createLanguage();
const weights = { strong: 1, weak: 0.5, hint: 0.4 };

test("strong and weak groups go both ways, hints one way", () => {
  const thesaurus = createThesaurus(
    { strong: "repo repository", weak: "send post\n# a comment", hints: "weather forecast: umbrella rain" },
    weights,
    stem,
  );
  expect(thesaurus.related(stem("repository")).get("repo")).toBe(1);
  expect(thesaurus.related(stem("post")).get("send")).toBe(0.5);
  expect([...thesaurus.related(stem("umbrella"))]).toEqual([
    [stem("weather"), 0.4],
    [stem("forecast"), 0.4],
  ]);
  expect(thesaurus.related(stem("weather")).size).toBe(0);
});

test("words of two parts are known as the one word that they become in names", () => {
  const thesaurus = createThesaurus({ strong: "pr pull_request", weak: "", hints: "" }, weights, stem);
  expect(thesaurus.related("pr").get(stem("pullrequest"))).toBe(1);
});

test("the shipped vocabulary has no empty and no one-sided line", () => {
  const thesaurus = createLanguage().thesaurus();
  for (const word of ["repo", "umbrella", "pr", "k8s", "invoice"])
    expect(thesaurus.related(stem(word)).size).toBeGreaterThan(0);
});

test("a misspelt word is like the right one, a short one like none", () => {
  const spelling = createSpellingIndex(
    new Map([
      ["forecast", 0],
      ["repositori", 1],
      ["get", 2],
    ]),
  );
  expect(spelling.similar("forcast", 4, 0.55).map(({ stem: known }) => known)).toEqual(["forecast"]);
  expect(spelling.similar("get", 4, 0.1)).toEqual([]);
});
