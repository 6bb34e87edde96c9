import { stemmer } from "stemmer";

/** A tool as a client has it: with the name that its user gave the server, and what that server said of itself. */
export interface ClientTool {
  readonly server: string;
  readonly instructions?: string | undefined;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: { readonly properties?: object } | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
}

/** Ranks tools for a question: their places in the list, best first, without those that have nothing of it. */
export type ClientSearch = (question: string) => readonly number[];

/** What English texts are full of: the words that search libraries leave out. */
const emptyWords = new Set(
  `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
  itself they them their theirs themselves what which who whom this that these those am is are was were be been being have
  has had having do does did doing a an the and but if or because as until while of at by for with about against between
  into through during before after above below to from up down in out on off over under again further then once here there
  when where why how all any both each few more most other some such no nor not only own same so than too very s t can will
  just don should now d ll m o re ve y`.split(/\s+/),
);

/** The words of a question that mean something, as a model types them into a search. */
export function keyWords(question: string): string {
  return toWords(question).join(" ");
}

/** Words in small letters; a name with underscores is one word. */
function toWords(text: string): string[] {
  const words =
    text
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.filter((word) => !emptyWords.has(word));
}

/** Of BM25, as the library that Codex uses has them. */
const bm25 = { k1: 1.2, b: 0.75 };

/**
 * Codex's search over deferred tools (`tool_search`): name, title, description and names of parameters of each tool,
 * with the name and the whole instructions of its server. Descriptions of parameters, annotations and `_meta` are not
 * in it.
 */
export function codexSearch(tools: readonly ClientTool[]): ClientSearch {
  const texts = tools.map((tool) => countStems(codexText(tool)));
  const holders = new Map<string, number>();
  for (const { counts } of texts) for (const stem of counts.keys()) holders.set(stem, (holders.get(stem) ?? 0) + 1);
  const average = texts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, texts.length);
  const weightOf = (stem: string): number => {
    const having = holders.get(stem) ?? 0;
    return Math.log(1 + (tools.length - having + 0.5) / (having + 0.5));
  };
  return (question) => {
    const stems = toWords(question).map(stemmer);
    return ranked(
      texts.map(({ counts, length }) =>
        stems.reduce((sum, stem) => {
          const count = counts.get(stem) ?? 0;
          const damped = count + bm25.k1 * (1 - bm25.b + (bm25.b * length) / average);
          return count === 0 ? sum : sum + (weightOf(stem) * count * (bm25.k1 + 1)) / damped;
        }, 0),
      ),
    );
  };
}

function codexText({ server, instructions, name, title, description, inputSchema }: ClientTool): string {
  const fullName = `mcp__${server.replaceAll(/\W/g, "_")}__${name}`;
  const parameters = Object.keys(inputSchema?.properties ?? {});
  return [fullName, name, name, server, title, description, instructions, ...parameters].join(" ");
}

function countStems(text: string): { readonly counts: ReadonlyMap<string, number>; readonly length: number } {
  const stems = toWords(text).map(stemmer);
  const counts = new Map<string, number>();
  for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return { counts, length: stems.length };
}

/** What Claude Code gives for a word of the question, by where it is. */
const points = { part: 12, insidePart: 6, name: 12, insideName: 4, hint: 4, description: 2 };
/** It reads no further. */
const read = { words: 32, description: 2_048, hint: 4_096 };

/**
 * Claude Code's search over deferred tools (`ToolSearch`): parts of names, `anthropic/searchHint`, and whole words of
 * the description. Instructions are not in it, and words have no stems.
 */
export function claudeSearch(tools: readonly ClientTool[]): ClientSearch {
  const texts = tools.map(({ server, name, description = "", _meta: meta }) => {
    const names = [server.toLowerCase(), name.toLowerCase()];
    const hint = meta?.["anthropic/searchHint"];
    return {
      names,
      parts: names.flatMap((one) => one.split(/[\s_.]+/)).filter((part) => part !== ""),
      description: wholeWords(description.slice(0, read.description)),
      hint: wholeWords(typeof hint === "string" ? hint.slice(0, read.hint) : ""),
    };
  });
  return (question) => {
    const words = question.trim().toLowerCase().split(/\s+/).slice(0, read.words);
    return ranked(
      texts.map(({ names, parts, description, hint }) =>
        words.reduce((sum, word) => {
          const inParts = best(parts, word, points.part, points.insidePart);
          const inNames = best(names, word, points.name, points.insideName);
          const inTexts = (hint(word) ? points.hint : 0) + (description(word) ? points.description : 0);
          return sum + inParts + inNames + inTexts;
        }, 0),
      ),
    );
  };
}

function best(texts: readonly string[], word: string, whole: number, inside: number): number {
  if (texts.includes(word)) return whole;
  return texts.some((text) => text.includes(word)) ? inside : 0;
}

/** Whether a word of the question is in the text, between the ends of words. */
function wholeWords(text: string): (word: string) => boolean {
  const lower = text.toLowerCase();
  return (word) => lower.includes(word) && new RegExp(`\\b${escaped(word)}\\b`).test(lower);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

function ranked(scores: readonly number[]): readonly number[] {
  return [...scores.keys()]
    .filter((at) => (scores[at] ?? 0) > 0)
    .toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other);
}
