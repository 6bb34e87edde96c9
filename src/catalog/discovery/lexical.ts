import { explain } from "../search/explain/explain.ts";
import type { Language } from "../search/language.ts";
import { tellingOf, type LearnedTools, type Lesson } from "../search/learning/learned.ts";
import { toolAt, type SearchIndex } from "../search/index/merge.ts";
import { search, type SearchOptions } from "../search/rank.ts";
import type { PhrasesOf } from "../search/language/phrase-book.ts";
import type { Enrichment } from "./phrases/enrichment.ts";
import type { Embeddings } from "./meaning/embeddings.ts";
import { createIndexCache } from "./index-cache.ts";
import type { ExplainedAnswer, SearchAnswer, SearchEngine, SearchRequest } from "./engine.ts";
import { matchWithMeaning, fuseScores } from "./meaning/score-fusion.ts";
import type { Place, UseMemory } from "./memory-of-use.ts";

export interface LexicalDeps {
  readonly language: Language;
  /** What people say for a tool; what a definition itself has of that when left out. */
  readonly phrasesOf?: PhrasesOf;
  readonly memory?: UseMemory;
  /** Told which tools are searched; what it writes for them is indexed soon after. */
  readonly enrichment?: Enrichment;
  readonly embeddings?: Embeddings;
  /** How long a search waits for tools that are still being indexed. */
  readonly longestWaitMs?: number;
}

/** Our own search: ranking is `catalog/search`, this keeps its indexes and adds what needs I/O. */
export function createLexicalEngine(deps: LexicalDeps): SearchEngine {
  const { language, phrasesOf, memory, embeddings, enrichment } = deps;
  const indexes = createIndexCache({
    language,
    phrasesOf,
    ...(deps.longestWaitMs === undefined ? {} : { longestWaitMs: deps.longestWaitMs }),
    onBuilt(sources) {
      if (embeddings === undefined && enrichment === undefined) return;
      const tools = sources.flatMap((source) => source.tools);
      embeddings?.update(tools);
      enrichment?.update(tools);
    },
  });
  enrichment?.onFresh(indexes.renew);
  const placesOf = createPlaces();

  function optionsFor(index: SearchIndex, request: SearchRequest): SearchOptions {
    const learned = memory === undefined ? undefined : learnedOf(index, placesOf, memory, request);
    return { ...request, ...(learned === undefined ? {} : { learned }) };
  }

  /** A search by meaning alone finds nothing where there are no vectors; it does not fall back to words. */
  const isByWords = ({ only }: SearchRequest): boolean =>
    only === "words" || (embeddings === undefined && only !== "meaning");
  const similar: Embeddings["similar"] = async (...asked) => await embeddings?.similar(...asked);

  return {
    name: "lexical",
    hasMeaning: embeddings !== undefined,
    async prepare(sources, signal) {
      await indexes.whole(sources, signal);
      language.thesaurus();
    },
    async search(request, signal) {
      const { index, isPartial } = await indexes.of(request.parts, signal);
      const options = optionsFor(index, request);
      const found = isByWords(request)
        ? search(index, request.query, options)
        : answer(index, request, options, await similar(index, request.query, options, signal));
      return isPartial ? { ...found, degraded: "indexing" } : found;
    },
    async explain(request, signal) {
      const { index, isPartial } = await indexes.of(request.parts, signal);
      const options = optionsFor(index, request);
      const found = isByWords(request)
        ? explain(index, request.query, options)
        : withWords(
            index,
            request.query,
            options,
            answer(index, request, options, await similar(index, request.query, options, signal)),
          );
      return isPartial ? { ...found, degraded: "indexing" } : found;
    },
  };
}

/** The tools of a view that such queries led to. */
function learnedOf(
  index: SearchIndex,
  placesOf: Places,
  memory: UseMemory,
  { principal, query }: Pick<SearchRequest, "principal" | "query">,
): LearnedTools | undefined {
  const { floor, leastOdds } = index.language.weights.learned;
  const recalled = memory.recall(principal, query, {
    leastLikeness: floor,
    leastOdds,
    rarityOf: tellingOf(index),
  });
  if (recalled.length === 0) return undefined;
  const toolOf = placesOf(index);
  const learned = new Map<number, Lesson>();
  for (const one of recalled) {
    const tool = toolOf(one.place);
    if (tool !== undefined && memory.isAbout(one, principal, toolAt(index, tool))) learned.set(tool, one);
  }
  return learned;
}

/** The number of the tool of that server and name. */
type Places = (index: SearchIndex) => (place: Place) => number | undefined;

/** Made when something was learned that may be about a tool of the index; each place is then looked up once. */
function createPlaces(): Places {
  const known = new WeakMap<SearchIndex, ReturnType<Places>>();
  return (index) => {
    let toolOf = known.get(index);
    if (toolOf === undefined) known.set(index, (toolOf = createToolOf(readPlaces(index))));
    return toolOf;
  };
}

function createToolOf(numbers: ReadonlyMap<string, number>): ReturnType<Places> {
  /** None is told as -1. */
  const found = new WeakMap<Place, number>();
  return (place) => {
    let number = found.get(place);
    if (number === undefined) found.set(place, (number = numbers.get(placeKey(place.server, place.tool)) ?? -1));
    return number < 0 ? undefined : number;
  };
}

function readPlaces(index: SearchIndex): Map<string, number> {
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
  if (request.only === "meaning") return meaningAlone(request, meant);
  if (meant === undefined) return { ...search(index, request.query, options), degraded: "embeddings" };
  const worded = search(index, request.query, { ...options, limit: fusedDepth, keepAll: true });
  const { match, closeness } = matchWithMeaning(worded, meant);
  const fused = fuseScores(worded.tools, meant, { closeness, depth: fusedDepth });
  return { tools: fused.slice(0, request.limit), total: fused.length, match };
}

/** What embeddings say by themselves. Whether that is what was asked, only words and meaning together tell. */
function meaningAlone({ limit }: SearchRequest, meant: Awaited<ReturnType<Embeddings["similar"]>>): SearchAnswer {
  if (meant === undefined) return { tools: [], total: 0, match: "none", degraded: "embeddings" };
  return { tools: meant.slice(0, limit), total: meant.length, match: meant.length === 0 ? "none" : "weak" };
}

/** Explains by words what words and meaning found together. */
function withWords(index: SearchIndex, query: string, options: SearchOptions, found: SearchAnswer): ExplainedAnswer {
  const { tools } = explain(index, query, { ...options, limit: fusedDepth, keepAll: true });
  const byTool = new Map(tools.map(({ tool, explanation }) => [tool, explanation]));
  return { ...found, tools: found.tools.map((hit) => ({ ...hit, explanation: byTool.get(hit.tool) })) };
}

/** How deep into each ranking fusion looks. */
const fusedDepth = 100;
