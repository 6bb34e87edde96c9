import { pathToFileURL } from "node:url";

import MiniSearch from "minisearch";

import { buildIndexPart } from "../../src/catalog/search/index/index-part.ts";
import { createLanguage } from "../../src/catalog/search/language.ts";
import { mergeParts } from "../../src/catalog/search/index/merge.ts";
import { createPhraseBook, phrasesFrom } from "../../src/catalog/search/language/phrase-book.ts";
import { phraseTexts } from "../../src/catalog/search/language/phrase-texts.ts";
import { search } from "../../src/catalog/search/rank.ts";
import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { createEmbeddings, type Embeddings, type VectorStore } from "../../src/catalog/discovery/meaning/embeddings.ts";
import {
  clampLimit,
  queryLengthLimit,
  readQuery,
  type SearchAnswer,
  type SearchEngine,
  type SearchRequest,
} from "../../src/catalog/discovery/engine.ts";
import { createFuseEngine } from "../../src/catalog/discovery/fuse.ts";
import { createLexicalEngine } from "../../src/catalog/discovery/lexical.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";
import type { PrincipalId } from "../../src/kernel/ids.ts";
import type { Ask } from "./measure.ts";

export const never = new AbortController().signal;
/** Phrases as the gateway has them. */
export const phrasesOf = phrasesFrom(createPhraseBook(phraseTexts));
export const someone = "bench" as PrincipalId;

/** Asks an engine as the gateway does: query read, ten results. The tool's hash is the benchmark's id. */
export function askEngine(engine: SearchEngine, parts: readonly InstanceCatalog[]): Ask {
  return async ({ query }) => {
    const { tools } = await engine.search(toRequest(query, parts), never);
    return tools.map(({ tool }) => tool.hash);
  };
}

/** The ranking alone, ten results whatever the distance: what the cut behind a clear winner costs. */
export function askUncut(parts: readonly InstanceCatalog[]): Ask {
  const language = createLanguage();
  const index = mergeParts(
    parts.map((part) => buildIndexPart(part, language, { phrasesOf })),
    language,
  );
  return async ({ query }) =>
    search(index, readQuery(query.slice(0, queryLengthLimit)).query, { limit: 10, keepAll: true }).tools.map(
      ({ tool }) => tool.hash,
    );
}

/** The lexical engine's whole answers, over these instances. */
export function searchLexical(parts: readonly InstanceCatalog[]): (query: string) => Promise<SearchAnswer> {
  const engine = lexicalEngine();
  return (query) => engine.search(toRequest(query, parts), never);
}

/** What does not fit into a query is cut, as a model that was refused would. */
export function toRequest(query: string, parts: readonly InstanceCatalog[]): SearchRequest {
  return { principal: someone, parts, query: readQuery(query.slice(0, queryLengthLimit)).query, limit: clampLimit(10) };
}

export function lexicalEngine(embeddings?: Embeddings): SearchEngine {
  return createLexicalEngine({
    language: createLanguage(),
    phrasesOf,
    ...(embeddings === undefined ? {} : { embeddings }),
  });
}

/** The engine as it ships, worker and deadline included: a search that was terminated counts as empty. */
export function askFuse(parts: readonly InstanceCatalog[]): Ask {
  const ask = askEngine(createFuseEngine({ workerFile: pathToFileURL("dist/cli/fuse-worker.js") }), parts);
  return (query) => ask(query).catch(() => []);
}

/** MiniSearch as it comes, over name, description and server. */
export function askMiniSearch(parts: readonly InstanceCatalog[]): Ask {
  const index = new MiniSearch({ fields: ["name", "description", "server"] });
  index.addAll(
    parts.flatMap((part) =>
      part.tools.map((tool) => ({
        id: tool.hash,
        name: tool.definition.name,
        description: tool.definition.description,
        server: part.serverTitle,
      })),
    ),
  );
  return async ({ query }) =>
    index
      .search(query)
      .slice(0, 10)
      .map((result) => String(result.id));
}

/** Vectors of every tool from the endpoint in `BENCH_EMBEDDINGS_URL`, waited for. */
export async function embedAll(parts: readonly InstanceCatalog[], url: string): Promise<Embeddings> {
  const vectors = new Map<string, Float32Array>();
  const store: VectorStore = {
    get: (hash) => vectors.get(hash),
    put: (entries) => entries.forEach(({ hash, vector }) => vectors.set(hash, vector)),
    keepOnly: () => undefined,
  };
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields: unknown) => console.error(fields),
    error: () => undefined,
  };
  const api = {
    url,
    model: process.env["BENCH_EMBEDDINGS_MODEL"] ?? "default",
    apiKey: process.env["BENCH_EMBEDDINGS_KEY"],
    dimensions: undefined,
  };
  const embeddings = createEmbeddings({ api, deadlineMs: 5_000, store, clock: systemClock, log });
  embeddings.update(parts.flatMap((part) => part.tools));
  while (embeddings.missing > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  return embeddings;
}
