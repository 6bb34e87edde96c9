import { Worker } from "node:worker_threads";
import { buildId } from "../../kernel/build-id.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { ValidationLimits } from "./schema-limits.ts";
import type { CompileReply, CompileRequest, CompileWorkerData } from "./worker-messages.ts";

/**
 * Compiles schemas one after the other in a worker thread, which starts with the first and ends when idle. A schema that takes
 * too long, or too much memory, takes its worker down with it; the next one gets a new worker.
 */
export interface Compiler extends AsyncDisposable {
  /** Starts the worker, so that who compiles next does not wait for it. */
  warm(): void;
  /** Rejects with GatewayError DRAINING when disposed of; every other trouble is an outcome. */
  compile(text: string): Promise<CompileOutcome>;
}

export type CompileOutcome =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "unvalidated"; readonly reason: string }
  /** Not the schema's fault: the worker could not be started, or too many schemas wait. Worth another try. */
  | { readonly kind: "unavailable"; readonly reason: string };

export interface CompilerOptions {
  readonly clock: Clock;
  readonly limits: ValidationLimits;
  /** The worker's entry file. */
  readonly workerFile: URL;
}

interface Job {
  readonly id: number;
  readonly text: string;
  settle(outcome: CompileOutcome): void;
  fail(error: GatewayError): void;
}

interface Thread {
  readonly worker: Worker;
  ready: boolean;
}

export function createCompiler({ clock, limits, workerFile }: CompilerOptions): Compiler {
  const queue: Job[] = [];
  const ending = new Set<Promise<unknown>>();
  let thread: Thread | undefined;
  let current: Job | undefined;
  let cancelTimer: (() => void) | undefined;
  let lastId = 0;
  let disposed = false;

  /** Does whatever is next: called after every change. At most one timer runs, for what the compiler is in. */
  function advance(): void {
    if (current !== undefined || disposed) return;
    setTimer(undefined);
    if (queue.length === 0) {
      thread?.worker.unref();
      if (thread !== undefined) setTimer({ delayMs: limits.workerIdleMs, run: endThread });
    } else if (thread === undefined) {
      start();
    } else if (thread.ready) {
      send(thread);
    }
  }

  function start(): Thread {
    thread = startThread();
    setTimer({
      delayMs: limits.startTimeoutMs,
      run: () => giveUpStart("it did not start in time"),
    });
    return thread;
  }

  function send({ worker }: Thread): void {
    current = queue.shift();
    if (current === undefined) return;
    const { id, text } = current;
    worker.ref();
    worker.postMessage({ id, text } satisfies CompileRequest);
    // An answer that is already here counts, however late a busy main thread looks at its timers.
    setTimer({
      delayMs: limits.compileTimeoutMs,
      run: () => setImmediate(() => giveUpCompile(id)),
    });
  }

  function settleCurrent(outcome: CompileOutcome): void {
    const job = current;
    current = undefined;
    job?.settle(outcome);
    advance();
  }

  function giveUpCompile(id: number): void {
    if (current?.id !== id) return;
    endThread();
    settleCurrent({
      kind: "unvalidated",
      reason: `it takes longer than ${limits.compileTimeoutMs} ms to compile`,
    });
  }

  function giveUpStart(reason: string): void {
    endThread();
    for (const job of queue.splice(0))
      job.settle({ kind: "unavailable", reason: `no worker to compile in: ${reason}` });
    advance();
  }

  function startThread(): Thread {
    const worker = new Worker(workerFile, {
      workerData: { codeLimit: limits.codeBytes, buildId } satisfies CompileWorkerData,
      resourceLimits: { maxOldGenerationSizeMb: limits.workerHeapMb, maxYoungGenerationSizeMb: 4 },
      // It needs neither the gateway's secrets nor its streams: stdout may be an MCP connection.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    const started: Thread = { worker, ready: false };
    worker.on("message", (reply: CompileReply) => onReply(started, reply));
    // An `error` is followed by `exit`; that is where it is dealt with.
    let cause = "it ended";
    worker.on("error", (error) => (cause = error.message));
    worker.on("exit", () => onExit(started, cause));
    return started;
  }

  function onReply(from: Thread, reply: CompileReply): void {
    if (from !== thread) return;
    if (reply.kind === "ready") {
      from.ready = true;
      advance();
    } else if (reply.id === current?.id) {
      settleCurrent(reply.compiled);
    }
  }

  function onExit(from: Thread, cause: string): void {
    if (from !== thread) return;
    thread = undefined;
    if (!from.ready) giveUpStart(cause);
    else if (current !== undefined)
      settleCurrent({ kind: "unvalidated", reason: `compiling it ended the worker: ${cause}` });
    else advance();
  }

  function endThread(): void {
    if (thread === undefined) return;
    const end = thread.worker.terminate();
    thread = undefined;
    ending.add(end);
    void end.finally(() => ending.delete(end));
  }

  function setTimer(next: { readonly delayMs: number; readonly run: () => void } | undefined): void {
    cancelTimer?.();
    cancelTimer = next && clock.after(next.delayMs, next.run);
  }

  return {
    warm() {
      if (!disposed && thread === undefined) start().worker.unref();
    },
    compile(text) {
      if (disposed) return Promise.reject(draining());
      if (queue.length >= limits.queue)
        return Promise.resolve({ kind: "unavailable", reason: "too many schemas wait" });
      return new Promise((settle, fail) => {
        lastId += 1;
        queue.push({ id: lastId, text, settle, fail });
        // A start in progress has a timer of its own, which must go on.
        if (thread === undefined || thread.ready) advance();
      });
    },
    async [Symbol.asyncDispose]() {
      disposed = true;
      setTimer(undefined);
      const left = current === undefined ? queue.splice(0) : [current, ...queue.splice(0)];
      current = undefined;
      for (const job of left) job.fail(draining());
      endThread();
      await Promise.allSettled(ending);
    },
  };
}

function draining(): GatewayError {
  return new GatewayError("DRAINING", "the gateway stops, and compiles no more schemas");
}
