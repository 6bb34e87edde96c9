import { buildId } from "../../kernel/build-id.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { StoreProblem } from "../record-store.ts";
import type { QuestionName, Questions, SqlReply, SqlRequest, SqlWorkerData } from "./sql-messages.ts";
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

interface Waiting {
  settle(text: string): void;
  fail(error: GatewayError): void;
}

const firstRestartMs = 1_000;
const longestRestartMs = 60_000;

export function createSqlClient(options: SqlClientOptions): SqlClient {
  const { clock, workerFile, data, heapMb, questions, onReply, onLost } = options;
  const waiting = new Map<number, Waiting>();
  let thread: SqlThread | undefined;
  let closing: { readonly promise: Promise<void>; readonly done: () => void } | undefined;
  let cancelRestart: (() => void) | undefined;
  let restartMs = firstRestartMs;
  let startedAt = 0;
  let starts = 0;
  let lastId = 0;
  let isDriverless = false;
  let lost: StoreProblem | undefined;

  function start(): void {
    cancelRestart = undefined;
    starts += 1;
    startedAt = clock.monotonic();
    thread = startSqlThread({ workerFile, data: { ...data, buildId }, heapMb, onReply: take, onEnded });
  }

  function take(reply: SqlReply): void {
    switch (reply.kind) {
      case "answer":
        return settle(reply.id, (question) => question.settle(reply.text));
      case "refused": {
        const { code, message, hint } = reply.failure;
        const error = new GatewayError(code, message, hint === undefined ? {} : { hint });
        return settle(reply.id, (question) => question.fail(error));
      }
      case "driverless":
        isDriverless = true;
        lost = driverless(reply.message);
        return undefined;
      case "closed":
        return undefined;
      case "opened":
      case "problems":
      case "appended":
        if (reply.kind === "opened") lost = undefined;
        return onReply(reply);
    }
  }

  function settle(id: number, run: (question: Waiting) => void): void {
    const question = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0 && closing === undefined) thread?.hold(false);
    if (question !== undefined) run(question);
  }

  function onEnded(reason: string): void {
    thread = undefined;
    const restartsMs = isDriverless || closing !== undefined ? undefined : nextRestart();
    lost = isDriverless ? (lost ?? driverless(reason)) : workerLost(reason, restartsMs);
    for (const question of waiting.values()) question.fail(unavailable(lost));
    waiting.clear();
    closing?.done();
    if (closing !== undefined) return;
    if (restartsMs !== undefined) cancelRestart = clock.after(restartsMs, start);
    onLost(lost);
  }

  /** Longer each time, from the beginning again after a life of some length. */
  function nextRestart(): number {
    if (clock.monotonic() - startedAt > longestRestartMs) restartMs = firstRestartMs;
    const delayMs = restartMs;
    restartMs = Math.min(2 * restartMs, longestRestartMs);
    return delayMs;
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
      if (waiting.size >= questions)
        return Promise.reject(new GatewayError("STORE_UNAVAILABLE", "too many questions wait for the database"));
      return new Promise((resolve, reject) => {
        lastId += 1;
        waiting.set(lastId, { settle: (text) => resolve(JSON.parse(text) as never), fail: reject });
        if (waiting.size === 1) current.hold(true);
        current.post({ kind: "ask", id: lastId, name, text: JSON.stringify(what) });
      });
    },
    close() {
      if (closing !== undefined) return closing.promise;
      let done = (): void => undefined;
      const promise = new Promise<void>((resolve) => (done = resolve));
      closing = { promise, done };
      cancelRestart?.();
      if (thread === undefined) done();
      else {
        thread.hold(true);
        thread.post({ kind: "close" });
      }
      return promise;
    },
    release: () => thread?.hold(false),
  };
}

function workerLost(reason: string, restartMs: number | undefined): StoreProblem {
  const hint = `It is started again in ${(restartMs ?? 0) / 1_000} s; records are kept back until then.`;
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
