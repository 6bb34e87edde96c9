import type { ToolEntry } from "../../model/snapshot.ts";
import { field, fieldCount, fieldNames } from "../language/fields.ts";
import type { IndexPart } from "./index-part.ts";
import type { Language } from "../language.ts";
import { mergePostings, type MergedPostings, mergeTerms } from "./merge-postings.ts";
import { createSpellingIndex, spellingInSteps, type SpellingIndex } from "./trigrams.ts";
import type { RankingWeights } from "../language/weights.ts";

/** The indexes of several instances, searched as one. Immutable. */
export interface SearchIndex extends MergedPostings {
  readonly language: Language;
  /** Every stem of every part, by global number. */
  readonly terms: ReadonlyMap<string, number>;
  readonly parts: readonly IndexPart[];
  /** Number of the first tool of each part; one more entry for the end. */
  readonly firstTool: Uint32Array;
  readonly toolCount: number;
  /** Number of the part that each tool belongs to. */
  readonly partOf: Uint32Array;
  /** Number of the server that each part belongs to. */
  readonly serverOf: Uint32Array;
  /**
   * By place: how much of a term's full score a tool of the part can have at most, saturation included. Undefined in a
   * catalog so small that looking at every tool costs less than leaving some out.
   */
  readonly refMost: Float32Array | undefined;
  /** The words of tool n's name: global terms from `nameStart[n]` to `nameStart[n + 1]`. */
  readonly nameStart: Uint32Array;
  readonly nameTerm: Uint32Array;
  /** How much a mention of global term t says: its inverse frequency, dampened. */
  readonly rarity: Float64Array;
  /** What one mention counts: the field's weight over its length, `tool * fieldCount + field`. */
  readonly mention: Float32Array;
  /** Made at the first misspelt word; with the index where that would take too long for one piece. */
  spelling(): SpellingIndex;
}

/**
 * From this many tools on a search leaves out the parts that cannot have one of the best. Below, adding up what every
 * tool has costs less than finding out.
 */
const usualBoundedFrom = 50_000;

/** Terms of some thousand tools. What knows their spellings is made in a few milliseconds. */
const mostLateTerms = 5_000;

export interface MergeOptions {
  readonly boundedFrom?: number;
}

/**
 * Puts parts together: sums over them, no text is read again. About 30 ms for ten thousand tools; the gateway does
 * it in
 * steps.
 *
 * @internal for tests and benchmarks
 */
export function mergeParts(parts: readonly IndexPart[], language: Language, options?: MergeOptions): SearchIndex {
  const merging = mergeInSteps(parts, language, options);
  for (;;) {
    const step = merging.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps of less than a millisecond or two: between them there may be other work. */
export function* mergeInSteps(
  parts: readonly IndexPart[],
  language: Language,
  { boundedFrom = usualBoundedFrom }: MergeOptions = {},
): Generator<undefined, SearchIndex> {
  const { firstTool, toolCount, partOf, serverOf } = yield* numberTools(parts);
  const mention = yield* mentionWeights(parts, toolCount, language.weights);
  const numbered = yield* mergeTerms(parts);
  const { terms, toolFrequency } = numbered;
  const names = yield* mergeNames(parts, toolCount, numbered.globals);
  const saturation = toolCount >= boundedFrom ? language.weights.k1 : undefined;
  const postings = yield* mergePostings({ parts, firstTool, numbered, mention, saturation });
  yield* countPhraseOnly(postings, toolFrequency, serverOf);
  const rarity = yield* raritiesOf(terms, toolFrequency, toolCount, language);
  let spelling = terms.size > mostLateTerms ? yield* spellingInSteps(terms) : undefined;
  return {
    language,
    parts,
    firstTool,
    toolCount,
    partOf,
    serverOf,
    terms,
    ...names,
    ...postings,
    rarity,
    mention,
    spelling: () => (spelling ??= createSpellingIndex(terms)),
  };
}

/** The tool with a number of this index. */
export function toolAt(index: SearchIndex, tool: number): ToolEntry {
  const number = index.partOf[tool] as number;
  return (index.parts[number] as IndexPart).tools[tool - (index.firstTool[number] as number)] as ToolEntry;
}

/** Inverse frequency in this catalog and, as if it had some hundred tools more, in the world of tools. */
export function rarityOf(frequency: number, toolCount: number, commonness: number, weights: RankingWeights): number {
  const total = toolCount + weights.commonTools;
  const df = frequency + commonness * weights.commonTools;
  return Math.log(1 + (total - df + 0.5) / (df + 0.5)) ** weights.rarityPower;
}

function* numberTools(
  parts: readonly IndexPart[],
): Generator<undefined, Pick<SearchIndex, "firstTool" | "toolCount" | "partOf" | "serverOf">> {
  const firstTool = new Uint32Array(parts.length + 1);
  const serverOf = new Uint32Array(parts.length);
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    firstTool[number + 1] = (firstTool[number] as number) + part.tools.length;
    serverOf[number] = number === 0 ? 0 : (serverOf[number - 1] as number) + (part.isContinued ? 0 : 1);
  }
  const toolCount = firstTool[parts.length] as number;
  const partOf = new Uint32Array(toolCount);
  for (let number = 0; number < parts.length; number += 1) {
    if (number % partsInStep === 0) yield;
    partOf.fill(number, firstTool[number], firstTool[number + 1]);
  }
  return { firstTool, toolCount, partOf, serverOf };
}

/**
 * A word that only phrases have is as frequent as there are servers whose phrases have it: a server with many tools
 * cannot make it say less elsewhere.
 */
function* countPhraseOnly(
  { refStart, refPart }: MergedPostings,
  toolFrequency: Uint32Array,
  serverOf: Uint32Array,
): Generator<undefined, void> {
  for (let term = 0; term < toolFrequency.length; term += 1) {
    if (term % stepSize === 0) yield;
    if (toolFrequency[term] !== 0) continue;
    let servers = 0;
    let before = -1;
    for (let at = refStart[term] as number; at < (refStart[term + 1] as number); at += 1) {
      const server = serverOf[refPart[at] as number] as number;
      if (server !== before) servers += 1;
      before = server;
    }
    toolFrequency[term] = servers;
  }
}

/** The words of all names, by their numbers in the whole index: a search looks at those of two hundred tools. */
function* mergeNames(
  parts: readonly IndexPart[],
  toolCount: number,
  globals: Uint32Array,
): Generator<undefined, Pick<SearchIndex, "nameStart" | "nameTerm">> {
  const nameStart = new Uint32Array(toolCount + 1);
  let tool = 0;
  for (const [number, { tools, memory, sequenceStart }] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    for (let local = 0; local < tools.length; local += 1) {
      const start = sequenceStart + 2 * local;
      const words = (memory[start + 1] as number) - (memory[start] as number);
      nameStart[tool + 1] = (nameStart[tool] as number) + words;
      tool += 1;
    }
  }
  const nameTerm = new Uint32Array(nameStart[toolCount] as number);
  let before = 0;
  let at = 0;
  for (const [number, { tools, memory, termCount, sequenceStart }] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    for (let local = 0; local < tools.length; local += 1) {
      const start = sequenceStart + 2 * local;
      const end = memory[start + 1] as number;
      for (let word = memory[start] as number; word < end; word += 1) {
        nameTerm[at] = globals[before + (memory[word] as number)] as number;
        at += 1;
      }
    }
    before += termCount;
  }
  return { nameStart, nameTerm };
}

/** Of so many terms, parts or places a step looks at once. */
const stepSize = 2_000;
const partsInStep = 100;

function* raritiesOf(
  terms: ReadonlyMap<string, number>,
  toolFrequency: Uint32Array,
  toolCount: number,
  { commonness, weights }: Language,
): Generator<undefined, Float64Array> {
  const rarity = new Float64Array(toolFrequency.length);
  for (const [stem, term] of terms) {
    rarity[term] = rarityOf(toolFrequency[term] as number, toolCount, commonness(stem), weights);
    if (term % stepSize === 0) yield;
  }
  return rarity;
}

function* mentionWeights(
  parts: readonly IndexPart[],
  toolCount: number,
  weights: RankingWeights,
): Generator<undefined, Float32Array> {
  const means = yield* meanLengths(parts, toolCount);
  means[field.phrases] = weights.phraseWords;
  const mention = new Float32Array(toolCount * fieldCount);
  const rows = fieldNames.map((name) => weights.fields[name]);
  let at = 0;
  for (const [number, { memory, lengths, tools }] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    let from = lengths;
    for (let tool = 0; tool < tools.length; tool += 1) {
      for (let place = 0; place < fieldCount; place += 1) {
        const { weight, b } = rows[place] as (typeof rows)[number];
        const own = (memory[from] as number) / (means[place] || 1);
        const relative = place === field.phrases ? Math.max(1, own) : own;
        mention[at] = weight / (1 - b + b * relative);
        from += 1;
        at += 1;
      }
    }
  }
  return mention;
}

/** Mean words per tool of each field. */
function* meanLengths(parts: readonly IndexPart[], toolCount: number): Generator<undefined, Float64Array> {
  const sums = new Float64Array(fieldCount);
  for (const [number, { memory, lengths, tools }] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    let from = lengths;
    for (let tool = 0; tool < tools.length; tool += 1) {
      for (let place = 0; place < fieldCount; place += 1) {
        sums[place] = (sums[place] as number) + (memory[from] as number);
        from += 1;
      }
    }
  }
  return sums.map((sum) => (toolCount === 0 ? 0 : sum / toolCount));
}
