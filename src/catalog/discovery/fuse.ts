import type { Match } from "../search/rank/confidence.ts";
import { isWantedTool, type ScoredTool } from "../search/rank.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { runWorker, workerUrl } from "../../kernel/runtime/run-worker.ts";
import { createSemaphore } from "../../kernel/runtime/semaphore.ts";
import type { SearchEngine } from "./engine.ts";

/** The worker is terminated after this time: a 1,000-character query over 1,000 tools takes Fuse 4 s. */
const fuseTimeoutMs = 500;
/**
 * Workers at once, and searches that may wait for one. Both are small because each worker holds a copy of the
 * catalog.
 */
const parallelWorkers = 2;
const waitingLimit = 32;

/**
 * Up to this distance, every word of the query is near the beginning of the searched text, or is spelt exactly as
 * asked.
 */
const goodDistance = 0.15;

/** What the worker is given. */
export interface FuseJob {
  readonly query: string;
  readonly limit: number;
  readonly records: readonly FuseRecord[];
  /**
   * The gateway's build. The worker's file may have been replaced by that of another build while the gateway runs.
   */
  readonly buildId: string;
}

export interface FuseRecord {
  readonly toolName: string;
  readonly description: string;
  readonly serverName: string;
}

/** What the worker answers: positions in `records`, best first, with Fuse's distance. */
export interface FuseResult {
  readonly found: readonly { readonly at: number; readonly score: number }[];
  readonly total: number;
}

export interface FuseOptions {
  /** The worker's file. Default: the built one. */
  readonly workerFile?: URL;
  /** After so many milliseconds, the worker's start included, a search is stopped. Default: 500. */
  readonly timeoutMs?: number;
}

/**
 * The engine `fuse`: Fuse.js in a new worker for each search, over the catalog of that moment. docs/search.md says
 * why it is not the default.
 */
export function createFuseEngine({
  workerFile = workerUrl(import.meta.url, "fuse-worker"),
  timeoutMs = fuseTimeoutMs,
}: FuseOptions = {}): SearchEngine {
  const workers = createSemaphore(parallelWorkers);
  return {
    name: "fuse",
    hasMeaning: false,
    prepare: () => Promise.resolve(),
    async search(request, signal) {
      if (workers.waiting >= waitingLimit)
        throw new GatewayError("SEARCH_FAILED", "too many searches are waiting for a worker");
      const tools = request.parts.flatMap((part) => part.tools).filter((tool) => isWantedTool(tool, request));
      const release = await workers.acquire(signal);
      try {
        const answer = await runWorker({
          file: workerFile,
          data: { query: request.query, limit: request.limit, records: tools.map(toRecord) },
          name: "the fuse engine",
          toError: (why, cause) => new GatewayError("SEARCH_FAILED", `the fuse engine ${why}`, { cause }),
          timeoutMs,
          signal,
        });
        const { found, total } = answer as FuseResult;
        const scored = found.map(({ at, score }) => toScored(tools[at] as ToolEntry, score));
        return { tools: scored, total, match: matchOf(scored[0]) };
      } finally {
        release();
      }
    },
  };
}

/**
 * Fuse finds only records that hold every word of the query, or a similar spelling of it. Its distance says how
 * similar and how early in the text.
 */
function matchOf(best: ScoredTool | undefined): Match {
  if (best === undefined) return "none";
  return best.distance <= goodDistance ? "good" : "weak";
}

function toRecord(tool: ToolEntry): FuseRecord {
  return { toolName: tool.definition.name, description: tool.definition.description ?? "", serverName: tool.server };
}

function toScored(tool: ToolEntry, distance: number): ScoredTool {
  return { tool, score: 1 - distance, distance };
}
