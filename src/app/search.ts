import type { Language } from "../catalog/search/language.ts";
import type { ToolEntry } from "../catalog/model/snapshot.ts";
import type { EmbeddingSettings, SearchSettings } from "../config/config.ts";
import type { DiscoveryDeps } from "../catalog/discovery/discovery.ts";
import type { Embeddings } from "../catalog/discovery/embeddings.ts";
import type { UseMemory } from "../catalog/discovery/memory-of-use.ts";
import type { Log } from "../kernel/log.ts";
import type { Clock } from "../kernel/clock.ts";
import type { GatewayStore } from "../store/store.ts";

export interface SearchDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly store: Pick<GatewayStore, "learned" | "vectors">;
  readonly isShared: (tool: ToolEntry) => boolean;
}

/**
 * Loads the engine that the configuration names, with what it has learned. Done at the first search rather than at
 * the start.
 */
export async function loadDiscovery(settings: SearchSettings, deps: SearchDeps): Promise<DiscoveryDeps> {
  const [{ createLanguage }, { createLexicalEngine }, { createFindMeant }] = await Promise.all([
    import("../catalog/search/language.ts"),
    import("../catalog/discovery/lexical.ts"),
    import("../catalog/discovery/meant-servers.ts"),
  ]);
  const language = createLanguage();
  const findMeant = createFindMeant(createLexicalEngine({ language }));
  if (settings.engine === "fuse") {
    const { createFuseEngine } = await import("../catalog/discovery/fuse.ts");
    return { engine: createFuseEngine(), memory: undefined, findMeant, close: () => Promise.resolve() };
  }
  const learned = settings.learn ? await loadMemory(language, deps) : undefined;
  const meaning = settings.embeddings === undefined ? undefined : await loadEmbeddings(settings.embeddings, deps);
  const engine = createLexicalEngine({
    language,
    ...(learned === undefined ? {} : { memory: learned.memory }),
    ...(meaning === undefined ? {} : { embeddings: meaning.embeddings }),
  });
  return {
    engine,
    memory: learned?.memory,
    findMeant,
    async close() {
      await Promise.all([learned?.close(), meaning?.close()]);
    },
  };
}

async function loadMemory(
  language: Language,
  deps: SearchDeps,
): Promise<{ memory: UseMemory; close: () => Promise<void> }> {
  const [{ createUseMemory }, store] = await Promise.all([
    import("../catalog/discovery/memory-of-use.ts"),
    deps.store.learned(),
  ]);
  const memory = await createUseMemory({ language, store, clock: deps.clock, isShared: deps.isShared });
  return { memory, close: async () => await store[Symbol.asyncDispose]() };
}

async function loadEmbeddings(
  settings: EmbeddingSettings,
  deps: SearchDeps,
): Promise<{ embeddings: Embeddings; close: () => Promise<void> }> {
  const [{ createEmbeddings }, store] = await Promise.all([
    import("../catalog/discovery/embeddings.ts"),
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
