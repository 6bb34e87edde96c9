import { buildIndexPart } from "../../src/catalog/search/index/index-part.ts";
import { type Signals, readSignals } from "../../src/catalog/search/rank/confidence.ts";
import type { Language } from "../../src/catalog/search/language.ts";
import { mergeParts, toolAt } from "../../src/catalog/search/index/merge.ts";
import { planQuery } from "../../src/catalog/search/rank/query.ts";
import { search } from "../../src/catalog/search/rank.ts";
import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { queryLengthLimit, readQuery } from "../../src/catalog/discovery/engine.ts";
import { corpusNames, halfOf, readCorpus, readQueries, setNames, toParts, type DevQuery } from "./data.ts";
import { phrasesOf } from "./engines.ts";
import { createNamesakes } from "./namesakes.ts";

/** A question asked of a catalog that has a tool for it, or has none. */
export interface Question {
  readonly corpus: string;
  /** Tools of the catalog: the whole corpus, or a piece of so many. */
  readonly size: number | "whole";
  readonly set: string;
  readonly text: string;
  readonly isAnswerable: boolean;
  /** From the catalog's own corpus; a question without a tool then lost it when the piece was cut. */
  readonly isOwn: boolean;
  /** No tool for it is known, but one here is called like the one that it was asked for. */
  readonly hasNamesake: boolean;
  readonly half: 0 | 1;
  /** Zeros when nothing was found. */
  readonly signals: Signals;
  readonly bestPath: string | undefined;
}

/** Sizes of pieces, how many of each are cut, and how many questions of one set and kind a piece is asked at most. */
const pieces = [
  { size: 20, count: 10 },
  { size: 100, count: 5 },
  { size: 400, count: 3 },
] as const;
const questionsPerSet = 40;

/** Every set's questions to every corpus, whole, and a sample of them to pieces of it. Always the same ones. */
export function* askAll(directory: string, language: Language): Generator<Question> {
  const sets = setNames
    .map((name) => readQueries(directory, name))
    .map((set) => ({ ...set, corpusTools: readCorpus(directory, set.corpus).tools }));
  const random = createRandom();
  for (const corpus of corpusNames) {
    const { tools } = readCorpus(directory, corpus);
    const hasNamesake = createNamesakes(tools, language.stem);
    const nameOf = new Map(
      sets.flatMap((set) => set.corpusTools.map((tool) => [`${set.corpus} ${tool.id}`, tool.name])),
    );
    const catalogs: { readonly size: Question["size"]; readonly parts: readonly InstanceCatalog[] }[] = [
      { size: "whole", parts: toParts(tools) },
    ];
    for (const { size, count } of pieces) {
      if (size * 1.5 > tools.length) continue;
      for (let made = 0; made < count; made += 1)
        catalogs.push({ size, parts: cutPiece(toParts(tools), size, random) });
    }
    for (const { size, parts } of catalogs) {
      const ask = createAsk(parts, language);
      const present = new Set(parts.flatMap((part) => part.tools.map((tool) => tool.hash)));
      for (const set of sets) {
        const isOwn = set.corpus === corpus;
        const asked = { answerable: 0, other: 0 };
        for (const query of size === "whole" ? set.queries : shuffle(set.queries, random)) {
          const isAnswerable = isOwn ? answers(query, present) : false;
          if (isAnswerable === undefined) continue;
          const kind = isAnswerable ? "answerable" : "other";
          asked[kind] += 1;
          if (size !== "whole" && asked[kind] > questionsPerSet) continue;
          const named = query.relevant.map((id) => nameOf.get(`${set.corpus} ${id}`) ?? "");
          yield {
            corpus,
            size,
            set: set.name,
            text: query.query,
            isAnswerable,
            isOwn,
            hasNamesake: !isAnswerable && named.some(hasNamesake),
            half: halfOf(query),
            ...ask(query.query),
          };
        }
      }
    }
  }
}

/** Whether these tools meet all of a question's needs, or none; undefined when they meet some. */
function answers(query: DevQuery, present: ReadonlySet<string>): boolean | undefined {
  const needs = query.groups ?? query.relevant.map((id) => [id]);
  if (needs.every((need) => need.some((id) => present.has(id)))) return true;
  return query.relevant.some((id) => present.has(id)) ? undefined : false;
}

function createAsk(
  parts: readonly InstanceCatalog[],
  language: Language,
): (text: string) => Pick<Question, "signals" | "bestPath"> {
  const index = mergeParts(
    parts.map((part) => buildIndexPart(part, language, { phrasesOf })),
    language,
  );
  const numbers = new Map(Array.from({ length: index.toolCount }, (_, tool) => [toolAt(index, tool), tool]));
  return (text) => {
    const { query } = readQuery(text.slice(0, queryLengthLimit));
    const [best] = search(index, query, { limit: 1 }).tools;
    const plan = planQuery(index, query);
    if (best === undefined || !plan.isTelling)
      return { signals: { strength: 0, literal: 0, isWhole: false }, bestPath: undefined };
    const candidate = { tool: numbers.get(best.tool) as number, score: best.score };
    return { signals: readSignals(index, plan, candidate), bestPath: best.tool.path };
  };
}

/** Whole servers, and of larger ones a part, until there are enough tools. */
function cutPiece(parts: readonly InstanceCatalog[], size: number, random: () => number): InstanceCatalog[] {
  const chosen: InstanceCatalog[] = [];
  let count = 0;
  for (const part of shuffle(parts, random)) {
    if (count >= size) break;
    const tools = shuffle(part.tools, random).slice(0, size);
    chosen.push({ ...part, tools });
    count += tools.length;
  }
  return chosen;
}

/** A linear congruential generator: the same pieces in every run. */
function createRandom(): () => number {
  let state = 7;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const shuffled = [...items];
  for (let at = shuffled.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [shuffled[at], shuffled[other]] = [shuffled[other] as T, shuffled[at] as T];
  }
  return shuffled;
}
