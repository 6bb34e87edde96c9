import { array, assert, boolean, constantFrom, integer, property, record, tuple } from "fast-check";
import { expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import type { ServerSlug } from "../../../kernel/ids.ts";
import type { InstanceCatalog } from "../../model/snapshot.ts";
import { buildIndexPart, buildIndexParts } from "../index/index-part.ts";
import { createLanguage } from "../language.ts";
import { mergeParts, type SearchIndex } from "../index/merge.ts";
import { atLeast, boundsOfParts } from "./promising-parts.ts";
import { addPhrases, findPhrases } from "../phrases.ts";
import { planQuery } from "./query.ts";
import { search, type SearchOptions } from "../rank.ts";
import { emptyScores, scoreGroups } from "./score.ts";

const language = createLanguage();
const words = (
  "create list get delete update issue message weather forecast repository branch file folder search page image " +
  "user team channel report invoice payment customer calendar event mail send read the of with a for umbrella bug"
).split(" ");
const word = constantFrom(...words);
const query = array(word, { minLength: 1, maxLength: 30 }).map((said) => said.join(" "));

/** Some hundred servers of some words, a few with many tools. */
function catalogOf(seed: number, servers: number): InstanceCatalog[] {
  let state = seed;
  const next = (below: number): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
  const pick = (): string => words[next(words.length)] as string;
  const text = (length: number): string => Array.from({ length }, pick).join(" ");
  return Array.from({ length: servers }, (_, at) =>
    sampleInstance(
      `${pick()}-${at}`,
      Array.from({ length: at % 40 === 0 ? 70 : 1 + next(4) }, (_tool, tool) => ({
        name: `${pick()}_${pick()}_${tool}`,
        description: text(1 + next(12)),
        annotations: { readOnlyHint: next(2) === 0 },
        ...(next(3) === 0 ? { _meta: { "toolyard/phrases": [text(4), text(3)] } } : {}),
        inputSchema: { type: "object" as const, properties: { [pick()]: { type: "string", description: text(3) } } },
      })),
      next(3) === 0 ? text(8) : undefined,
    ),
  );
}

const inPieces = (sources: readonly InstanceCatalog[]): SearchIndex =>
  mergeParts(
    sources.flatMap((source) => [...buildIndexParts(source, language)]),
    language,
    { boundedFrom: 0 },
  );
const whole = (sources: readonly InstanceCatalog[]): SearchIndex =>
  mergeParts(
    sources.map((source) => buildIndexPart(source, language)),
    language,
  );
/** The same index, searched tool by tool. */
const unbounded = (index: SearchIndex): SearchIndex => ({ ...index, refMost: undefined });

const answerOf = (index: SearchIndex, text: string, options: SearchOptions) => {
  const { tools, ...rest } = search(index, text, options);
  return { ...rest, tools: tools.map(({ tool, score, distance }) => [tool.path, score, distance]) };
};

test("leaving parts out changes no answer: not the tools, their order, their scores or their number", () => {
  const catalogs = [1, 2, 3].map((seed) => catalogOf(seed, 300));
  const indexes = catalogs.map(inPieces);
  const plain = indexes.map(unbounded);
  const options = record({ limit: integer({ min: 1, max: 50 }), keepAll: boolean() });
  assert(
    property(integer({ min: 0, max: 2 }), query, options, (at, text, given) => {
      expect(answerOf(indexes[at] as SearchIndex, text, given)).toEqual(
        answerOf(plain[at] as SearchIndex, text, given),
      );
    }),
    { numRuns: 400 },
  );
});

test("the same with filters, and with what was learned", () => {
  const sources = catalogOf(4, 300);
  const index = inPieces(sources);
  const plain = unbounded(index);
  const server = constantFrom(...sources.slice(0, 50).map((source) => source.server as string));
  const lessons = [
    { likeness: 0.35, odds: 0 },
    { likeness: 0.6, odds: 25 },
    { likeness: 1, odds: 0 },
    { likeness: 0, odds: 90 },
  ];
  const learned = array(tuple(integer({ min: 0, max: index.toolCount - 1 }), constantFrom(...lessons)));
  assert(
    property(query, server, boolean(), learned, (text, slug, isOfServer, past) => {
      const options: SearchOptions = {
        limit: 20,
        learned: new Map(past),
        allow: (tool) =>
          tool.upstreamName.length % 3 !== 0 && (isOfServer || tool.definition.annotations?.readOnlyHint === true),
        ...(isOfServer ? { server: slug as ServerSlug } : {}),
      };
      expect(answerOf(index, text, options)).toEqual(answerOf(plain, text, options));
    }),
    // The first is of a learned tool in a part that words alone give no reason to look at.
    { numRuns: 200, examples: [["bug", "page-0", false, [[641, { likeness: 1, odds: 0 }]]]] as never },
  );
});

test("a server that is indexed in pieces is found as it is in one", () => {
  const sources = catalogOf(5, 120);
  const [pieces, one] = [inPieces(sources), whole(sources)];
  expect(pieces.parts.length).toBeGreaterThan(one.parts.length);
  expect(new Set(pieces.serverOf).size).toBe(sources.length);
  assert(
    property(query, (text) => {
      expect(answerOf(pieces, text, { limit: 50 })).toEqual(answerOf(one, text, { limit: 50 }));
    }),
    { numRuns: 200 },
  );
});

test("no tool exceeds the bound of its part, and bounds tell parts apart", () => {
  const index = inPieces(catalogOf(6, 300));
  let leftOut = 0;
  assert(
    property(query, (text) => {
      const plan = planQuery(index, text);
      const phrases = findPhrases(index, plan.stems);
      const bounds = boundsOfParts(index, plan.groups, phrases) as Float64Array;
      const scored = emptyScores(index);
      scoreGroups(index, plan.groups, scored);
      const { scores } = scored;
      addPhrases(index, phrases, scores);
      for (const [tool, score] of scores.entries())
        expect(score).toBeLessThanOrEqual((bounds[index.partOf[tool] as number] as number) * (1 + 1e-9));
      leftOut += atLeast(bounds, Math.max(...scores) / 2, new Uint8Array(bounds.length)).filter(
        (chosen) => chosen === 0,
      ).length;
    }),
    { numRuns: 100 },
  );
  expect(leftOut).toBeGreaterThan(0);
});
