import { Worker } from "node:worker_threads";
import { buildId } from "../../kernel/runtime/late-module.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { workerUrl } from "../../kernel/runtime/run-worker.ts";

/** What the worker that counts tokens is told once, when it starts. */
export interface TokenWorkerData {
  readonly buildId: string;
}

export interface TokenRequest {
  readonly id: number;
  readonly text: string;
}

export interface TokenReply {
  readonly id: number;
  readonly tokens: number;
}

/** Counts the o200k tokens of texts in a worker thread, one text at a time. */
export interface TokenThread extends AsyncDisposable {
  /** Never rejects. Ask for the next one when it has resolved. */
  count(text: string): Promise<Counted>;
}

/** Tokens; `failed` when this text took too long or too much memory; `unavailable` when the thread does not start. */
export type Counted = number | "failed" | "unavailable";

export interface TokenThreadOptions {
  readonly clock: Clock;
  readonly limits?: TokenLimits | undefined;
  /** The worker's built entry file, where it is not beside this one. */
  readonly workerFile?: URL | undefined;
}

export interface TokenLimits {
  /**
   * For one text. Some texts take time that grows with the square of their length: 40,000 letters without a space 9 s.
   */
  readonly countMs: number;
  /** Loading the tokenizer takes 0.5 s, and on a busy machine several times as long. */
  readonly startMs: number;
  /** The thread ends when it was not needed for so long, and its memory goes with it. */
  readonly idleMs: number;
}

const standardLimits: TokenLimits = { countMs: 3_000, startMs: 20_000, idleMs: 1_000 };
/** Twice as much as the merges take. */
const heapMb = 160;

interface Running {
  readonly worker: Worker;
  /** Whether it has answered anything: until then it may still be loading. */
  hasAnswered: boolean;
}

/** A thread that could not start is not tried again before. */
const retryMs = 60_000;

/** The thread is started by the first text, and again after it ended. */
export function createTokenThread({
  clock,
  limits = standardLimits,
  workerFile = workerUrl(import.meta.url, "token-worker"),
}: TokenThreadOptions): TokenThread {
  let running: Running | undefined;
  let retryAtMs = Number.NEGATIVE_INFINITY;
  let lastId = 0;
  let cancelIdle = (): void => undefined;

  async function end(): Promise<void> {
    cancelIdle();
    const ended = running;
    running = undefined;
    await ended?.worker.terminate();
  }

  async function ask(thread: Running, text: string): Promise<Counted> {
    lastId += 1;
    const request: TokenRequest = { id: lastId, text };
    const { worker } = thread;
    return await new Promise((resolve) => {
      const finish = (tokens: Counted): void => {
        cancelTimer();
        worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
        resolve(tokens);
      };
      const onMessage = (reply: TokenReply): void => {
        thread.hasAnswered = true;
        if (reply.id === request.id) finish(reply.tokens);
      };
      const onEnd = (): void => finish(thread.hasAnswered ? "failed" : "unavailable");
      const limitMs = limits.countMs + (thread.hasAnswered ? 0 : limits.startMs);
      // An answer that has already arrived counts, even when a busy main thread gets to its timers late.
      const cancelTimer = clock.after(limitMs, () => setImmediate(onEnd));
      worker.on("message", onMessage).on("error", onEnd).on("exit", onEnd);
      worker.postMessage(request);
    });
  }

  return {
    async count(text) {
      if (running === undefined && clock.monotonic() < retryAtMs) return "unavailable";
      cancelIdle();
      const thread = (running ??= { worker: startWorker(workerFile), hasAnswered: false });
      const tokens = await ask(thread, text);
      if (tokens === "unavailable") retryAtMs = clock.monotonic() + retryMs;
      if (typeof tokens === "string") await end();
      else cancelIdle = clock.after(limits.idleMs, () => void end());
      return tokens;
    },
    [Symbol.asyncDispose]: end,
  };
}

function startWorker(file: URL): Worker {
  const worker = new Worker(file, {
    workerData: { buildId } satisfies TokenWorkerData,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 },
    // It needs neither the gateway's secrets nor its streams: stdout may be an MCP connection.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  // Callers that wait for an answer listen too; without any listener an error would end the process.
  worker.on("error", () => undefined);
  worker.unref();
  return worker;
}
