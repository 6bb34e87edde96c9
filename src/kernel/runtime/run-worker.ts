import { Worker, type Transferable } from "node:worker_threads";
import { abortReason } from "./abort.ts";
import { buildId, isLoadFailure } from "./late-module.ts";
import { GatewayError } from "../failures/gateway-error.ts";

/** A worker thread for one job. */
export interface WorkerJob {
  readonly file: URL;
  /** What it is given as `workerData`, to which `buildId` is added: its file may be that of another build by now. */
  readonly data: object;
  /** Parts of `data` that are handed over instead of copied. */
  readonly transferred?: readonly Transferable[];
  /** After so many milliseconds, its start included, it is ended. */
  readonly timeoutMs: number;
  /** What it does, as the subject of a sentence: `the fuse engine`. */
  readonly name: string;
  /** Why there is no answer, as the end of a sentence. */
  readonly toError: (why: string, cause?: unknown) => Error;
  readonly signal?: AbortSignal;
}

/**
 * Starts a thread, resolves to its first message, and ends it. Rejects with what `toError` makes where it fails or
 * takes too long, with GATEWAY_REPLACED where its file was removed, and with the signal's reason.
 */
export async function runWorker(job: WorkerJob): Promise<unknown> {
  const { file, data, transferred = [], timeoutMs, name, toError, signal } = job;
  signal?.throwIfAborted();
  const worker = new Worker(file, { workerData: { ...data, buildId }, transferList: [...transferred] });
  try {
    return await new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => reject(toError(`took longer than ${timeoutMs} ms`)), timeoutMs);
      const failed = (cause: unknown): void =>
        reject(
          isLoadFailure(cause)
            ? new GatewayError(
                "GATEWAY_REPLACED",
                `this gateway's files were replaced or removed: ${name} cannot be loaded`,
                { cause },
              )
            : toError("failed", cause),
        );
      const giveUp = (): void => reject(abortReason(signal as AbortSignal));
      signal?.addEventListener("abort", giveUp, { once: true });
      worker.once("message", resolve).once("error", failed).once("exit", failed);
      worker.once("exit", () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
      });
    });
  } finally {
    await worker.terminate();
  }
}

/**
 * The URL of the built entry file of a worker thread or process: it is in the folder of the built file that asks.
 * Node 20 cannot run TypeScript, so callers that run from `src/` (tests) also get the built file, and the project
 * must be built first.
 *
 * @param importMetaUrl `import.meta.url` of the calling file
 * @param name the entry's name without extension
 */
export function workerUrl(importMetaUrl: string, name: string): URL {
  const built = new URL(`./${name}.js`, importMetaUrl);
  if (!importMetaUrl.endsWith(".ts")) return built;
  const from = built.pathname.lastIndexOf("/src/");
  if (from < 0) throw new Error(`no src folder in ${importMetaUrl}`);
  built.pathname = `${built.pathname.slice(0, from)}/dist/cli/${name}.js`;
  return built;
}
