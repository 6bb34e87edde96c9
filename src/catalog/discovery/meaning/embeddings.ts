import { toolAt, type SearchIndex } from "../../search/index/merge.ts";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import { isWantedTool, type ScoredTool, type SearchOptions } from "../../search/rank.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { Log } from "../../../kernel/runtime/log.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { requestEmbeddings, type EmbeddingApi } from "./embedding-request.ts";

/** Tools per request: few enough for a model on a laptop to answer within seconds. */
const batchSize = 32;
const batchTimeoutMs = 30_000;
/** Delay after the first failure, doubled with each further one up to `most`. */
const backoffMs = Object.freeze({ first: 1_000, most: 60_000 });
/**
 * Characters of a tool that are embedded: its name, its server, and the part of the description that says what it is
 * for.
 */
const textLengthLimit = 1_200;
/**
 * Tools for which vectors are kept, over all views. Beyond this, the tools that no view has named for longest are
 * dropped.
 */
const toolLimit = 20_000;
/** Query vectors that are kept, because agents repeat their queries. */
const queryMemoryLimit = 200;

/**
 * Vectors of tools, keyed by the hash of the embedded text. All come from one model and have one length. Implemented
 * in `store/`.
 */
export interface VectorStore {
  get(hash: string): Float32Array | undefined;
  /** Available in memory at once, written to disk soon after. */
  put(entries: readonly VectorEntry[]): void;
  /**
   * When more vectors are kept than allowed, forgets all but these. Below that limit nothing is forgotten, because a
   * server that is absent today may be back tomorrow.
   */
  keepOnly(hashes: ReadonlySet<string>): void;
}

export interface VectorEntry {
  /** 64 hexadecimal digits. */
  readonly hash: string;
  readonly vector: Float32Array;
}

export interface EmbeddingDeps {
  readonly api: EmbeddingApi;
  /** How long a search waits for its query's vector. */
  readonly deadlineMs: number;
  readonly store: VectorStore;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}

/** Search by meaning, beside search by words. Uses an OpenAI-compatible endpoint that the user runs or pays for. */
export interface Embeddings extends Disposable {
  /** Adds these tools to those that need vectors. Missing vectors are fetched in the background. */
  update(tools: readonly ToolEntry[]): void;
  /**
   * The tools nearest in meaning, best first. Undefined when the endpoint is down or slow, or has not embedded enough
   * of the tools yet.
   */
  similar(
    index: SearchIndex,
    query: string,
    options: SearchOptions,
    signal: AbortSignal,
  ): Promise<ScoredTool[] | undefined>;
  /** Tools that have no vector yet. */
  readonly missing: number;
}

/** Embeddings from one model of one endpoint. Fetches in the background, and waits longer after each failure. */
export function createEmbeddings(deps: EmbeddingDeps): Embeddings {
  const stopped = new AbortController();
  const queries = new Map<string, Float32Array>();
  /** Keyed by content hash: equal tools of two users share one vector. */
  const wanted = new Map<string, ToolEntry>();
  let delayMs = 0;
  let isRunning = false;
  let cancelRetry: (() => void) | undefined;

  const missing = (): ToolEntry[] => [...wanted.values()].filter((tool) => deps.store.get(tool.hash) === undefined);

  async function embedMissing(): Promise<void> {
    for (let batch = missing().slice(0, batchSize); batch.length > 0; batch = missing().slice(0, batchSize)) {
      const signal = abortAfter(batchTimeoutMs, stopped.signal);
      const vectors = await requestEmbeddings(deps.api, batch.map(textOf), signal);
      deps.store.put(batch.map((tool, at) => ({ hash: tool.hash, vector: vectors[at] as Float32Array })));
      if (deps.store.get((batch[0] as ToolEntry).hash) === undefined)
        throw new Error("the endpoint's vectors changed their length");
      delayMs = 0;
    }
    deps.store.keepOnly(new Set(wanted.keys()));
  }

  function run(): void {
    if (isRunning || stopped.signal.aborted) return;
    isRunning = true;
    cancelRetry = undefined;
    embedMissing().then(
      () => (isRunning = false),
      (error: unknown) => {
        isRunning = false;
        if (stopped.signal.aborted) return;
        delayMs = Math.min(backoffMs.most, Math.max(backoffMs.first, delayMs * 2));
        deps.log.warn(
          { component: "embeddings", retryInMs: delayMs, reason: String(error) },
          "the embedding endpoint does not answer",
        );
        cancelRetry = deps.clock.after(delayMs, run);
      },
    );
  }

  async function vectorOf(query: string, signal: AbortSignal): Promise<Float32Array> {
    const known = queries.get(query);
    if (known !== undefined) return known;
    const limited = abortAfter(deps.deadlineMs, signal, stopped.signal);
    const [vector] = await requestEmbeddings(deps.api, [query], limited);
    queries.set(query, vector as Float32Array);
    if (queries.size > queryMemoryLimit) queries.delete(queries.keys().next().value as string);
    return vector as Float32Array;
  }

  return {
    get missing() {
      return missing().length;
    },
    update(tools) {
      for (const tool of tools) {
        wanted.delete(tool.hash);
        wanted.set(tool.hash, tool);
      }
      dropOldest(wanted);
      if (cancelRetry === undefined) run();
    },
    async similar(index, query, options, signal) {
      try {
        return nearest(index, await vectorOf(query, signal), options, deps.store);
      } catch (error) {
        signal.throwIfAborted();
        deps.log.debug({ component: "embeddings", reason: String(error) }, "searched without embeddings");
        return undefined;
      }
    },
    [Symbol.dispose]() {
      cancelRetry?.();
      stopped.abort();
    },
  };
}

function dropOldest(wanted: Map<string, ToolEntry>): void {
  for (const hash of wanted.keys()) {
    if (wanted.size <= toolLimit) return;
    wanted.delete(hash);
  }
}

function textOf(tool: ToolEntry): string {
  const { name, title, description } = tool.definition;
  return `${tool.server} ${name.replace(/[_-]+/g, " ")}: ${title ?? ""} ${description ?? ""}`.slice(0, textLengthLimit);
}

/** Undefined while fewer than half of the tools have vectors: ranking only those few would push the others down. */
function nearest(
  index: SearchIndex,
  query: Float32Array,
  options: SearchOptions,
  store: VectorStore,
): ScoredTool[] | undefined {
  const found: ScoredTool[] = [];
  let seen = 0;
  for (let number = 0; number < index.toolCount; number += 1) {
    const tool = toolAt(index, number);
    const vector = store.get(tool.hash);
    if (vector === undefined || vector.length !== query.length) continue;
    seen += 1;
    if (!isWantedTool(tool, options)) continue;
    const score = dot(query, vector);
    found.push({ tool, score, distance: Math.min(1, Math.max(0, 1 - score)) });
  }
  return seen * 2 < index.toolCount ? undefined : found.sort((a, b) => b.score - a.score);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
