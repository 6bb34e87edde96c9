import { join } from "node:path";
import type { SearchSettings } from "../config/config.ts";
import type { ToolEntry } from "../catalog/snapshot.ts";
import type { DiscoveryParts } from "../discovery/discovery.ts";
import type { Log } from "../events/log.ts";
import type { Clock } from "../shared/clock.ts";

export interface SearchDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly isShared: (tool: ToolEntry) => boolean;
}

/** Loads the engine that the configuration names, and what it learns from: at the first search, not at start. */
export async function loadDiscovery(settings: SearchSettings, deps: SearchDeps): Promise<DiscoveryParts> {
  if (settings.engine === "fuse") {
    const { createFuseEngine } = await import("../discovery/fuse.ts");
    return { engine: createFuseEngine(), memory: undefined };
  }
  const [{ createLanguage }, { createLexicalEngine }] = await Promise.all([import("../catalog/search/language.ts"), import("../discovery/lexical.ts")]);
  const language = createLanguage();
  const memory = settings.learn ? await loadMemory(language, deps) : undefined;
  const embeddings = settings.embeddings === undefined ? undefined : await loadEmbeddings(settings.embeddings, deps);
  const engine = createLexicalEngine({ language, ...(memory === undefined ? {} : { memory }), ...(embeddings === undefined ? {} : { embeddings }) });
  return { engine, memory };
}

async function loadMemory(language: import("../catalog/search/language.ts").Language, deps: SearchDeps) {
  const [{ createUseMemory }, { createLearnedFile }] = await Promise.all([import("../discovery/memory-of-use.ts"), import("../store/learned-file.ts")]);
  const store = createLearnedFile(join(deps.dataDir, "learned.json"), (error) => deps.log.warn({ component: "store", operation: "learned", err: error }, "what was learned from use cannot be kept"));
  return await createUseMemory({ language, store, clock: deps.clock, isShared: deps.isShared });
}

async function loadEmbeddings(settings: NonNullable<SearchSettings["embeddings"]>, deps: SearchDeps) {
  const [{ createEmbeddings }, { createVectorFile }] = await Promise.all([import("../discovery/embeddings.ts"), import("../store/vector-file.ts")]);
  const store = createVectorFile({
    path: join(deps.dataDir, "vectors.bin"),
    model: settings.model,
    onFailure: (error) => deps.log.warn({ component: "store", operation: "vectors", err: error }, "vectors of tools cannot be kept"),
  });
  const { deadlineMs, ...endpoint } = settings;
  return createEmbeddings({ endpoint, deadlineMs, store, clock: deps.clock, log: deps.log });
}
