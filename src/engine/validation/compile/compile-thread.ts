import { Worker } from "node:worker_threads";
import { buildId } from "../../../kernel/runtime/build-id.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { ValidationLimits } from "../schema-limits.ts";
import type { CompileReply, CompileRequest, CompileWorkerData } from "./worker-messages.ts";

/**
 * The worker thread that compiles schemas, one at a time. It ends when starting it or compiling a schema takes too
 * long.
 */
export interface CompileThread {
  /** Whether it has started and accepts work. */
  readonly ready: boolean;
  compile(request: CompileRequest): void;
  /** Lets the process end while it has nothing to do. */
  unref(): void;
  /** Ends it; `onEnded` is then not called. Resolves when it is gone. */
  end(): Promise<unknown>;
}

export interface CompileThreadOptions {
  readonly clock: Clock;
  readonly limits: ValidationLimits;
  /** The worker's entry file. */
  readonly workerFile: URL;
  readonly onReady: () => void;
  readonly onCompiled: (compiled: Extract<CompileReply, { kind: "compiled" }>["compiled"]) => void;
  /**
   * Called when it ended other than by `end`, either before it had started or while it worked on a request. The
   * reason is in words.
   */
  readonly onEnded: (wasReady: boolean, reason: string) => void;
}

/** Starts the thread. It accepts work once `ready` is true. */
export function startCompileThread(options: CompileThreadOptions): CompileThread {
  const { clock, limits, onReady, onCompiled, onEnded } = options;
  const worker = startWorker(options);
  let ready = false;
  let ended = false;
  let current: number | undefined;
  let cancelTimer = clock.after(limits.startTimeoutMs, () => giveUp("it did not start in time"));

  function giveUp(reason: string): void {
    if (ended) return;
    void end();
    onEnded(ready, reason);
  }

  function end(): Promise<unknown> {
    ended = true;
    cancelTimer();
    return worker.terminate();
  }

  function onMessage(reply: CompileReply): void {
    if (ended) return;
    if (reply.kind === "ready") {
      cancelTimer();
      ready = true;
      onReady();
    } else if (reply.id === current) {
      cancelTimer();
      current = undefined;
      onCompiled(reply.compiled);
    }
  }

  worker.on("message", onMessage);
  // An `error` is always followed by `exit`, which is handled below.
  let cause = "it ended";
  worker.on("error", (error) => (cause = error.message));
  worker.on("exit", () => giveUp(ready ? `compiling it ended the worker: ${cause}` : cause));
  return {
    get ready() {
      return ready;
    },
    compile(request) {
      current = request.id;
      worker.ref();
      worker.postMessage(request);
      const late = (): void => {
        if (current === request.id) giveUp(`it takes longer than ${limits.compileTimeoutMs} ms to compile`);
      };
      // An answer that has already arrived counts, even when a busy main thread gets to its timers late.
      cancelTimer = clock.after(limits.compileTimeoutMs, () => setImmediate(late));
    },
    unref: () => worker.unref(),
    end,
  };
}

function startWorker({ limits, workerFile }: CompileThreadOptions): Worker {
  return new Worker(workerFile, {
    workerData: { codeLimit: limits.codeBytes, buildId } satisfies CompileWorkerData,
    resourceLimits: { maxOldGenerationSizeMb: limits.workerHeapMb, maxYoungGenerationSizeMb: 4 },
    // The worker needs neither the gateway's secrets nor its streams: stdout may be an MCP connection.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
}
