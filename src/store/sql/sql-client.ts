import { buildId } from "../../kernel/build-id.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { StoreProblem } from "../record-store.ts";
import type { QuestionName, Questions, SqlReply, SqlRequest, SqlWorkerData } from "./sql-messages.ts";
import { createOpenQuestions } from "./store-questions.ts";
import { createRestartDelay } from "./restart-delay.ts";
import { startSqlThread, type SqlThread } from "./sql-thread.ts";

/** The worker thread as this thread sees it: started again when it dies, and asked by name. */
export interface SqlClient {
  /** Whether there is a worker to hand batches to. */
  readonly isRunning: boolean;
  readonly starts: number;
  append(request: Extract<SqlRequest, { kind: "append" }>): void;
  ask<Name extends QuestionName>(name: Name, what: Questions[Name]["ask"]): Promise<Questions[Name]["answer"]>;
  /** Resolves when the worker has closed its databases, or is gone. Questions after this one are refused. */
  close(): Promise<void>;
  /** Lets the process end although the worker has not. */
  release(): void;
}

export interface SqlClientOptions {
  readonly clock: Clock;
  readonly workerFile: URL;
  readonly data: Omit<SqlWorkerData, "buildId">;
  readonly heapMb: number;
  /** Questions that may wait for an answer at once: whoever asks more is refused. */
  readonly questions: number;
  readonly onReply: (reply: Exclude<SqlReply, { kind: "answer" | "refused" | "closed" | "driverless" }>) => void;
  /** The worker is gone, with everything that was handed to it; undefined when there is one again. */
  readonly onLost: (problem: StoreProblem) => void;
}

export function createSqlClient(options: SqlClientOptions): SqlClient {
  const { clock, workerFile, data, heapMb, questions, onReply, onLost } = options;
  const open = createOpenQuestions();
  const delay = createRestartDelay();
  let thread: SqlThread | undefined;
  let closing: { readonly promise: Promise<void>; readonly done: () => void } | undefined;
  let cancelRestart: (() => void) | undefined;
  let starts = 0;
  let lost: StoreProblem | undefined;

  function start(): void {
    cancelRestart = undefined;
    starts += 1;
    delay.started(clock.monotonic());
    thread = startSqlThread({ workerFile, data: { ...data, buildId }, heapMb, onReply: take, onEnded });
  }

  function take(reply: SqlReply): void {
    if (reply.kind === "answer" || reply.kind === "refused") {
      open.settle(reply);
      if (open.size === 0 && closing === undefined) thread?.hold(false);
    } else if (reply.kind === "driverless") lost = driverless(reply.message);
    else if (reply.kind !== "closed") onReply(reply);
  }

  function onEnded(reason: string): void {
    thread = undefined;
    if (lost?.kind !== "driver") {
      const delayMs = delay.next(clock.monotonic());
      lost = workerLost(reason, delayMs);
      if (closing === undefined) cancelRestart = clock.after(delayMs, start);
    }
    open.failAll(closing === undefined ? unavailable(lost) : draining());
    closing?.done();
    if (closing === undefined) onLost(lost);
  }

  start();
  return {
    get isRunning() {
      return thread !== undefined && closing === undefined;
    },
    get starts() {
      return starts;
    },
    append(request) {
      thread?.post(request);
    },
    ask(name, what) {
      if (closing !== undefined) return Promise.reject(draining());
      const current = thread;
      if (current === undefined) return Promise.reject(unavailable(lost));
      if (open.size >= questions)
        return Promise.reject(new GatewayError("STORE_UNAVAILABLE", "too many questions wait for the database"));
      return new Promise((resolve, reject) => {
        const id = open.add({ settle: (text) => resolve(JSON.parse(text) as never), fail: reject });
        if (open.size === 1) current.hold(true);
        current.post({ kind: "ask", id, name, text: JSON.stringify(what) });
      });
    },
    close() {
      closing ??= createClosing();
      cancelRestart?.();
      if (thread === undefined) closing.done();
      else {
        thread.hold(true);
        thread.post({ kind: "close" });
      }
      return closing.promise;
    },
    release: () => thread?.hold(false),
  };
}

function createClosing(): { readonly promise: Promise<void>; readonly done: () => void } {
  let done = (): void => undefined;
  const promise = new Promise<void>((resolve) => (done = resolve));
  return { promise, done };
}

function workerLost(reason: string, restartMs: number): StoreProblem {
  const hint = `It is started again in ${restartMs / 1_000} s; records are kept back until then.`;
  return { database: null, kind: "worker", message: `the thread that has the database is gone: ${reason}`, hint };
}

function driverless(message: string): StoreProblem {
  const hint = "Install Toolyard again without --omit=optional, or use Node 22.22 or newer; calls are served without.";
  return { database: null, kind: "driver", message, hint };
}

function unavailable(problem: StoreProblem | undefined): GatewayError {
  const hint = problem === undefined ? {} : { hint: problem.hint };
  return new GatewayError("STORE_UNAVAILABLE", problem?.message ?? "the database is not there", hint);
}

function draining(): GatewayError {
  return new GatewayError("DRAINING", "the gateway stops, and its database is closed");
}
