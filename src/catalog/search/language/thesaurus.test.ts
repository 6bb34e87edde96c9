import { expect, test } from "vitest";

import { createLanguage } from "../language.ts";
import { createThesaurus } from "./thesaurus.ts";
import { createSpellingIndex } from "../index/trigrams.ts";

const { stem } = createLanguage();
const weights = { strong: 1, weak: 0.5, hint: 0.4, hintTargets: 2, hintSpread: 0.5 };

test("strong and weak groups go both ways, hints one way", () => {
  const thesaurus = createThesaurus(
    { strong: ["repo repository"], weak: ["send post\n# a comment"], hints: ["weather forecast: umbrella rain"] },
    weights,
    stem,
  );
  expect(thesaurus.synonyms(stem("repository")).get("repo")).toBe(1);
  expect(thesaurus.synonyms(stem("post")).get("send")).toBe(0.5);
  expect(thesaurus.hints(stem("umbrella"))).toEqual({ names: [[stem("weather")], [stem("forecast")]], weight: 0.4 });
  expect(thesaurus.has(stem("weather"))).toBe(false);
});

test("a hint at a name of two words keeps them together, and one at many names says less of each", () => {
  const hints = "pipeline+schedule: nightly hourly\ntimer: nightly\ncron: nightly\nbackup rotation: nightly";
  const thesaurus = createThesaurus({ strong: [], weak: [], hints: [hints] }, weights, stem);
  expect(thesaurus.hints(stem("hourly"))?.names).toEqual([[stem("pipeline"), stem("schedule")]]);
  expect(thesaurus.hints(stem("hourly"))?.weight).toBe(0.4);
  expect(thesaurus.hints(stem("nightly"))?.weight).toBeLessThan(0.4);
});

test("words of two parts are known as the one word that they become in names", () => {
  const thesaurus = createThesaurus({ strong: ["pr pull_request"], weak: [], hints: [] }, weights, stem);
  expect(thesaurus.synonyms("pr").get(stem("pullrequest"))).toBe(1);
});

test("the shipped vocabulary is known", () => {
  const thesaurus = createLanguage().thesaurus();
  for (const word of ["repo", "umbrella", "pr", "k8s", "invoice", "bought", "天气"])
    expect(thesaurus.has(stem(word))).toBe(true);
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
