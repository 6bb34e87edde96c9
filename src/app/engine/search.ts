import type { Language } from "../../catalog/search/language.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { EmbeddingSettings, EnrichSettings, SearchSettings } from "../../config/config.ts";
import type { DiscoveryDeps } from "../../catalog/discovery/discovery.ts";
import type { Embeddings } from "../../catalog/discovery/meaning/embeddings.ts";
import type { Enrichment } from "../../catalog/discovery/phrases/enrichment.ts";
import type { PhraseWriter } from "../../catalog/discovery/phrases/phrase-writer.ts";
import type { PhrasesOf } from "../../catalog/search/language/phrase-book.ts";
import type { UseMemory, UseMemoryDeps } from "../../catalog/discovery/memory-of-use.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { phrasesIn } from "../../kernel/call/tool-phrases.ts";
import type { GatewayStore } from "../../store/store.ts";

export interface SearchDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly store: Pick<GatewayStore, "learned" | "phrases" | "vectors">;
  readonly sharedWith: UseMemoryDeps["sharedWith"];
  readonly teamOf: UseMemoryDeps["teamOf"];
}

/**
 * Loads the engine that the configuration names, with what it has learned. Done at the first search rather than at
 * the start.
 */
export async function loadDiscovery(settings: SearchSettings, deps: SearchDeps): Promise<DiscoveryDeps> {
  const [
    { createLanguage },
    { createPhraseBook, phraseSourceFrom, phrasesFrom },
    { phraseTexts },
    { createLexicalEngine },
    meant,
    skilled,
  ] = await Promise.all([
    import("../../catalog/search/language.ts"),
    import("../../catalog/search/language/phrase-book.ts"),
    import("../../catalog/search/language/phrase-texts.ts"),
    import("../../catalog/discovery/lexical.ts"),
    import("../../catalog/discovery/server-intent.ts"),
    import("../../catalog/discovery/skill-search.ts"),
  ]);
  const language = createLanguage();
  const book = createPhraseBook(phraseTexts);
  const written =
    settings.enrich === undefined || settings.engine === "fuse"
      ? undefined
      : await loadEnrichment(settings.enrich, phrasesFrom(book), deps);
  const phrasesOf = phrasesFrom(book, written?.enrichment.phrasesOf);
  const phraseSource = phraseSourceFrom(book, written?.enrichment.phrasesOf);
  const findMeant = meant.createFindMeant(createLexicalEngine({ language, phrasesOf }));
  const findSkills = skilled.createFindSkills(createLexicalEngine({ language }));
  if (settings.engine === "fuse") {
    const { createFuseEngine } = await import("../../catalog/discovery/fuse.ts");
    return {
      engine: createFuseEngine(),
      memory: undefined,
      enrichment: undefined,
      findMeant,
      findSkills,
      phrasesOf,
      phraseSource,
      close: () => Promise.resolve(),
    };
  }
  const learned = settings.learn ? await loadMemory(language, deps) : undefined;
  const meaning = settings.embeddings === undefined ? undefined : await loadEmbeddings(settings.embeddings, deps);
  const engine = createLexicalEngine({
    language,
    phrasesOf,
    ...(learned === undefined ? {} : { memory: learned.memory }),
    ...(meaning === undefined ? {} : { embeddings: meaning.embeddings }),
    ...(written === undefined ? {} : { enrichment: written.enrichment }),
  });
  return {
    engine,
    memory: learned?.memory,
    enrichment: written?.enrichment,
    findMeant,
    findSkills,
    phrasesOf,
    phraseSource,
    async close() {
      await Promise.all([learned?.close(), meaning?.close(), written?.close()]);
    },
  };
}

async function loadMemory(
  language: Language,
  deps: SearchDeps,
): Promise<{ memory: UseMemory; close: () => Promise<void> }> {
  const [{ createUseMemory }, store] = await Promise.all([
    import("../../catalog/discovery/memory-of-use.ts"),
    deps.store.learned(),
  ]);
  const memory = await createUseMemory({ ...deps, language, store });
  return { memory, close: async () => await store[Symbol.asyncDispose]() };
}

async function loadEnrichment(
  settings: EnrichSettings,
  known: PhrasesOf,
  { store, clock, log }: SearchDeps,
): Promise<{ enrichment: Enrichment; close: () => Promise<void> }> {
  const [{ createEnrichment }, kept, writer] = await Promise.all([
    import("../../catalog/discovery/phrases/enrichment.ts"),
    store.phrases(),
    loadWriter(settings),
  ]);
  // An explicit empty list of phrases is respected.
  const isWanting = (tool: ToolEntry): boolean => phrasesIn(tool.definition) === undefined && known(tool).length === 0;
  const enrichment = await createEnrichment({
    ...{ writer, isWanting, clock, log },
    parallel: settings.parallel,
    limits: settings,
    store: kept,
  });
  return {
    enrichment,
    async close() {
      enrichment[Symbol.dispose]();
      await kept[Symbol.asyncDispose]();
    },
  };
}

async function loadWriter({ url, model, apiKey }: EnrichSettings): Promise<PhraseWriter> {
  return (await import("../../catalog/discovery/phrases/endpoint-writer.ts")).createEndpointWriter({
    url,
    model,
    apiKey,
  });
}

async function loadEmbeddings(
  settings: EmbeddingSettings,
  deps: SearchDeps,
): Promise<{ embeddings: Embeddings; close: () => Promise<void> }> {
  const [{ createEmbeddings }, store] = await Promise.all([
    import("../../catalog/discovery/meaning/embeddings.ts"),
    deps.store.vectors(`${settings.model} ${settings.dimensions ?? "own"}`),
  ]);
  const { deadlineMs, ...api } = settings;
  const embeddings = createEmbeddings({ api, deadlineMs, store, clock: deps.clock, log: deps.log });
  return {
    embeddings,
    async close() {
      embeddings[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
