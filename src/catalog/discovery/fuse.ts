import { Worker } from "node:worker_threads";

import type { Match } from "../search/confidence-weights.ts";
import { isWantedTool, type ScoredTool } from "../search/rank.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import { buildId } from "../../kernel/build-id.ts";
import { isLoadFailure } from "../../kernel/late-module.ts";
import { abortReason } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { createSemaphore } from "../../kernel/semaphore.ts";
import type { SearchEngine } from "./engine.ts";
import { workerUrl } from "../../kernel/worker-file.ts";

/** After this the worker is terminated: a 1,000-character query over 1,000 tools takes Fuse 4 s. */
const fuseTimeoutMs = 500;
/** Workers at once, and searches that may wait for one: each holds a copy of the catalog. */
const parallelWorkers = 2;
const waitingLimit = 32;

/** Up to here every word stands near the beginning of what was searched, or is spelt as it was asked. */
const goodDistance = 0.15;

/** What the worker is given. */
export interface FuseJob {
  readonly query: string;
  readonly limit: number;
  readonly records: readonly FuseRecord[];
  /** Of the gateway: the worker's file may have been replaced by that of another build. */
  readonly buildId: string;
}

export interface FuseRecord {
  readonly toolName: string;
  readonly description: string;
  readonly serverName: string;
}

/** What it answers: places in `records`, best first, and Fuse's distance. */
export interface FuseResult {
  readonly found: readonly { readonly at: number; readonly score: number }[];
  readonly total: number;
}

/**
 * Fuse.js, in a worker of its own per search, over the catalog as it is then. For those who ask for it;
 * docs/search.md says why it is not the default.
 */
export function createFuseEngine(workerFile: URL = workerUrl(import.meta.url, "fuse-worker")): SearchEngine {
  const workers = createSemaphore(parallelWorkers);
  return {
    name: "fuse",
    prepare: () => Promise.resolve(),
    async search(request, signal) {
      if (workers.waiting >= waitingLimit)
        throw new GatewayError("SEARCH_FAILED", "too many searches wait for a worker");
      const tools = request.parts.flatMap((part) => part.tools).filter((tool) => isWantedTool(tool, request));
      const release = await workers.acquire(signal);
      try {
        const job = { query: request.query, limit: request.limit, records: tools.map(toRecord), buildId };
        const { found, total } = await runWorker(workerFile, job, signal);
        const scored = found.map(({ at, score }) => toScored(tools[at] as ToolEntry, score));
        return { tools: scored, total, match: matchOf(scored[0]) };
      } finally {
        release();
      }
    },
  };
}

/**
 * Fuse finds only what has every word of the query, or something spelt like it: the distance says how much like it,
 * and how early.
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

async function runWorker(url: URL, job: FuseJob, signal: AbortSignal): Promise<FuseResult> {
  signal.throwIfAborted();
  const worker = new Worker(url, { workerData: job });
  try {
    return await new Promise<FuseResult>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new GatewayError("SEARCH_FAILED", `the fuse engine took longer than ${fuseTimeoutMs} ms`)),
        fuseTimeoutMs,
      );
      const failed = (cause: unknown): void =>
        reject(
          isLoadFailure(cause)
            ? new GatewayError(
                "GATEWAY_REPLACED",
                "this gateway's files were replaced or removed: the fuse engine cannot be loaded",
                { cause },
              )
            : new GatewayError("SEARCH_FAILED", "the fuse engine failed", { cause }),
        );
      const giveUp = (): void => reject(abortReason(signal));
      signal.addEventListener("abort", giveUp, { once: true });
      worker.once("message", resolve).once("error", failed).once("exit", failed);
      worker.once("exit", () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
      });
    });
  } finally {
    await worker.terminate();
  }
}
