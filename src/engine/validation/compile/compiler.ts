import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { startCompileThread, type CompileThread } from "./compile-thread.ts";
import type { ValidationLimits } from "../schema-limits.ts";

/**
 * Compiles schemas one after the other in a worker thread, which starts with the first one and ends when idle. When a
 * schema takes too much time or memory, the worker is ended, and the next schema gets a new one.
 */
export interface Compiler extends AsyncDisposable {
  /** Rejects with GatewayError DRAINING when disposed of. Every other failure is an outcome. */
  compile(text: string): Promise<CompileOutcome>;
}

export type CompileOutcome =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "unvalidated"; readonly reason: string }
  /** Not the schema's fault: the worker could not be started, or too many schemas are waiting. May be tried again. */
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

/** Starts nothing: the thread starts with the first schema, or with `warm`. */
export function createCompiler({ clock, limits, workerFile }: CompilerOptions): Compiler {
  const queue: Job[] = [];
  const ending = new Set<Promise<unknown>>();
  let thread: CompileThread | undefined;
  let current: Job | undefined;
  let cancelIdle: (() => void) | undefined;
  let lastId = 0;
  let disposed = false;

  /** Does whatever is due next. Called after every change. */
  function advance(): void {
    if (current !== undefined || disposed) return;
    cancelIdle?.();
    cancelIdle = undefined;
    if (queue.length === 0) {
      thread?.unref();
      if (thread !== undefined) cancelIdle = clock.after(limits.workerIdleMs, endThread);
    } else if (thread === undefined) {
      start();
    } else if (thread.ready) {
      current = queue.shift();
      if (current !== undefined) thread.compile({ id: current.id, text: current.text });
    }
  }

  function start(): void {
    thread = startCompileThread({ clock, limits, workerFile, onReady: advance, onCompiled: settleCurrent, onEnded });
  }

  function settleCurrent(outcome: CompileOutcome): void {
    const job = current;
    current = undefined;
    job?.settle(outcome);
    advance();
  }

  function onEnded(wasReady: boolean, reason: string): void {
    thread = undefined;
    if (!wasReady)
      for (const job of queue.splice(0))
        job.settle({ kind: "unavailable", reason: `there is no worker to compile it: ${reason}` });
    if (current === undefined) advance();
    else settleCurrent({ kind: "unvalidated", reason });
  }

  function endThread(): void {
    if (thread === undefined) return;
    const end = thread.end();
    thread = undefined;
    ending.add(end);
    void end.finally(() => ending.delete(end));
  }

  return {
    compile(text) {
      if (disposed) return Promise.reject(draining());
      if (queue.length >= limits.queue)
        return Promise.resolve({ kind: "unavailable", reason: "too many schemas wait" });
      return new Promise((settle, fail) => {
        lastId += 1;
        queue.push({ id: lastId, text, settle, fail });
        advance();
      });
    },
    async [Symbol.asyncDispose]() {
      disposed = true;
      cancelIdle?.();
      const left = current === undefined ? queue.splice(0) : [current, ...queue.splice(0)];
      current = undefined;
      for (const job of left) job.fail(draining());
      endThread();
      await Promise.allSettled(ending);
    },
  };
}

function draining(): GatewayError {
  return new GatewayError("DRAINING", "the gateway is stopping, and compiles no more schemas");
}
