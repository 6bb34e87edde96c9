import { buildIndexPart, type IndexPart } from "../search/index-part.ts";
import type { Language } from "../search/language.ts";
import { tellingOf, type LearnedTools } from "../search/learned.ts";
import { mergeParts, toolAt, type SearchIndex } from "../search/merge.ts";
import type { PhrasesOf } from "../search/phrase-book.ts";
import { search, type SearchOptions } from "../search/rank.ts";
import type { InstanceCatalog } from "../model/snapshot.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Embeddings } from "./embeddings.ts";
import type { Enrichment } from "./enrichment.ts";
import type { SearchAnswer, SearchEngine, SearchRequest } from "./engine.ts";
import { matchWithMeaning } from "./meaning-match.ts";
import type { UseMemory } from "./memory-of-use.ts";
import { fuseScores } from "./score-fusion.ts";

/** Indexed instances kept at once: every instance of a large installation, so that a change indexes one server only. */
const partLimit = 4_000;
/** Sets of instances kept merged: one per different view that is in use; a merge takes some milliseconds. */
const mergedLimit = 16;
/** After this long of indexing, other work gets its turn. */
const sliceMs = 8;
const nobodyWaits = new AbortController().signal;

export interface LexicalDeps {
  readonly language: Language;
  /** What people say for a tool; what a definition itself has of that when left out. */
  readonly phrasesOf?: PhrasesOf;
  readonly memory?: UseMemory;
  /** Told which tools are searched; what it writes for them is indexed soon after. */
  readonly enrichment?: Enrichment;
  readonly embeddings?: Embeddings;
}

/** Our own search: ranking is `catalog/search`, this keeps its indexes and adds what needs I/O. */
export function createLexicalEngine(deps: LexicalDeps): SearchEngine {
  const parts = new Map<InstanceId, { readonly source: InstanceCatalog; readonly part: IndexPart }>();
  let merged: readonly Merged[] = [];

  function partOf(source: InstanceCatalog): IndexPart {
    const known = parts.get(source.instance);
    if (known?.source === source) return known.part;
    const part = buildIndexPart(source, deps.language, deps.phrasesOf);
    parts.delete(source.instance);
    parts.set(source.instance, { source, part });
    if (parts.size > partLimit) parts.delete(parts.keys().next().value as InstanceId);
    return part;
  }

  async function mergedOf(sources: readonly InstanceCatalog[], signal: AbortSignal): Promise<Merged> {
    const known = merged.find((entry) => isSameList(entry.sources, sources));
    if (known !== undefined) {
      if (known !== merged[0]) merged = [known, ...merged.filter((entry) => entry !== known)];
      return known;
    }
    const list = await inSlices(sources, partOf, signal);
    const fresh: Merged = { sources, index: mergeParts(list, deps.language), places: undefined };
    merged = [fresh, ...merged].slice(0, mergedLimit);
    const tools = sources.flatMap((source) => source.tools);
    deps.embeddings?.update(tools);
    deps.enrichment?.update(tools);
    return fresh;
  }

  /** Tools have new phrases: their instances are indexed again, the newest view's before the next search asks. */
  function indexAgain(hashes: ReadonlySet<string>): void {
    for (const [instance, { source }] of parts)
      if (source.tools.some((tool) => hashes.has(tool.hash))) parts.delete(instance);
    const newest = merged[0]?.sources;
    merged = [];
    // What fails here fails again, and is told, where somebody searches.
    if (newest !== undefined) mergedOf(newest, nobodyWaits).catch(() => undefined);
  }
  deps.enrichment?.onFresh(indexAgain);

  return {
    name: "lexical",
    async prepare(sources, signal) {
      await mergedOf(sources, signal);
      deps.language.thesaurus();
    },
    async search(request, signal) {
      const entry = await mergedOf(request.parts, signal);
      const learned = deps.memory === undefined ? undefined : learnedOf(entry, deps.memory, request);
      const options: SearchOptions = { ...request, ...(learned === undefined ? {} : { learned }) };
      if (deps.embeddings === undefined) return search(entry.index, request.query, options);
      const meant = await deps.embeddings.similar(entry.index, request.query, options, signal);
      return answer(entry.index, request, options, meant);
    },
  };
}

interface Merged {
  readonly sources: readonly InstanceCatalog[];
  readonly index: SearchIndex;
  /** Numbers of tools by server and name; made when something was learned that may be about one of them. */
  places: ReadonlyMap<string, number> | undefined;
}

/** The tools of a view that queries like this one led to, each with the likeness of the most similar one. */
function learnedOf(
  entry: Merged,
  memory: UseMemory,
  { principal, query }: Pick<SearchRequest, "principal" | "query">,
): LearnedTools | undefined {
  const { index } = entry;
  const recalled = memory.recall(principal, query, {
    least: index.language.weights.learned.floor,
    rarityOf: tellingOf(index),
  });
  if (recalled.length === 0) return undefined;
  const places = (entry.places ??= placesOf(index));
  const learned = new Map<number, number>();
  for (const one of recalled) {
    const tool = places.get(placeKey(one.place.server, one.place.tool));
    if (tool === undefined || one.similarity <= (learned.get(tool) ?? 0)) continue;
    if (memory.isAbout(one, principal, toolAt(index, tool))) learned.set(tool, one.similarity);
  }
  return learned;
}

function placesOf(index: SearchIndex): Map<string, number> {
  const places = new Map<string, number>();
  for (let number = 0; number < index.toolCount; number += 1) {
    const tool = toolAt(index, number);
    places.set(placeKey(tool.server, tool.upstreamName), number);
  }
  return places;
}

function placeKey(server: string, tool: string): string {
  return `${server}\n${tool}`;
}

/** Words and meaning together; words alone where nothing could be asked what was meant. */
function answer(
  index: SearchIndex,
  request: SearchRequest,
  options: SearchOptions,
  meant: Awaited<ReturnType<Embeddings["similar"]>>,
): SearchAnswer {
  if (meant === undefined) return { ...search(index, request.query, options), degraded: "embeddings" };
  const worded = search(index, request.query, { ...options, limit: fusedDepth, keepAll: true });
  const { match, closeness } = matchWithMeaning(worded, meant);
  const fused = fuseScores(worded.tools, meant, { closeness, depth: fusedDepth });
  return { tools: fused.slice(0, request.limit), total: fused.length, match };
}

/** How deep into each ranking fusion looks. */
const fusedDepth = 100;

async function inSlices<T, R>(items: readonly T[], each: (item: T) => R, signal: AbortSignal): Promise<R[]> {
  const results: R[] = [];
  let sliceStart = performance.now();
  for (const item of items) {
    results.push(each(item));
    if (performance.now() - sliceStart < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    sliceStart = performance.now();
  }
  return results;
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}
