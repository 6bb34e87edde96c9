import { toolAt, type SearchIndex } from "../search/merge.ts";
import { abortAfter } from "../../kernel/abort.ts";
import { isWantedTool, type ScoredTool, type SearchOptions } from "../search/rank.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { Log } from "../../kernel/log.ts";
import type { Clock } from "../../kernel/clock.ts";
import { requestEmbeddings, type EmbeddingEndpoint } from "./embedding-request.ts";

/** Tools per request: small enough for a model on a laptop to answer in seconds. */
const batchSize = 32;
const batchTimeoutMs = 30_000;
/** Wait after a failure, doubled up to the most. */
const backoffMs = Object.freeze({ first: 1_000, most: 60_000 });
/** Characters of a tool that are embedded: name, server and the part of the description that says what it is for. */
const textLengthLimit = 1_200;
/** Tools that shall have vectors, of all views together; those that no view named for longest are dropped. */
const toolLimit = 20_000;
/** Vectors of recent queries: agents repeat themselves. */
const queryMemoryLimit = 200;

/** Vectors of tools by the hash of what was embedded, all of one model and length. Satisfied by `store/`. */
export interface VectorStore {
  get(hash: string): Float32Array | undefined;
  /** Kept in memory at once, on disk soon after. */
  put(entries: readonly VectorEntry[]): void;
  /**
   * Forgets all but these, when there are more than shall be kept: some that are not needed now may be again
   * tomorrow.
   */
  keepOnly(hashes: ReadonlySet<string>): void;
}

export interface VectorEntry {
  /** 64 hexadecimal digits. */
  readonly hash: string;
  readonly vector: Float32Array;
}

export interface EmbeddingDeps {
  readonly endpoint: EmbeddingEndpoint;
  /** How long a search waits for the vector of its query. */
  readonly deadlineMs: number;
  readonly store: VectorStore;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}

/** Meaning beside words: an OpenAI-compatible endpoint that the user runs or pays for. */
export interface Embeddings extends Disposable {
  /** These tools, beside those named before, shall have vectors: those without get them in the background. */
  update(tools: readonly ToolEntry[]): void;
  /**
   * The tools whose meaning is nearest, best first; undefined when the endpoint is down, slow, or has not seen the
   * tools yet.
   */
  similar(
    index: SearchIndex,
    query: string,
    options: SearchOptions,
    signal: AbortSignal,
  ): Promise<ScoredTool[] | undefined>;
  /** Tools still without a vector. */
  readonly missing: number;
}

export function createEmbeddings(deps: EmbeddingDeps): Embeddings {
  const stopped = new AbortController();
  const queries = new Map<string, Float32Array>();
  /** By content hash; equal tools of two users need one vector. */
  const wanted = new Map<string, ToolEntry>();
  let delayMs = 0;
  let isRunning = false;
  let cancelRetry: (() => void) | undefined;

  const missing = (): ToolEntry[] => [...wanted.values()].filter((tool) => deps.store.get(tool.hash) === undefined);

  async function embedMissing(): Promise<void> {
    for (let batch = missing().slice(0, batchSize); batch.length > 0; batch = missing().slice(0, batchSize)) {
      const signal = abortAfter(batchTimeoutMs, stopped.signal);
      const vectors = await requestEmbeddings(deps.endpoint, batch.map(textOf), signal);
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
    const [vector] = await requestEmbeddings(deps.endpoint, [query], limited);
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
      for (const hash of wanted.keys()) {
        if (wanted.size <= toolLimit) break;
        wanted.delete(hash);
      }
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

function textOf(tool: ToolEntry): string {
  const { name, title, description } = tool.definition;
  return `${tool.server} ${name.replace(/[_-]+/g, " ")}: ${title ?? ""} ${description ?? ""}`.slice(0, textLengthLimit);
}

/** Undefined when fewer than half of the tools have vectors yet: an order of the few would push the others down. */
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
