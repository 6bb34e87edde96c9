import type { Clock } from "../../kernel/clock.ts";
import type { StoreProblem } from "../record-store.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { createRestartDelay } from "./restart-delay.ts";
import type { SqlReply, SqlRequest } from "./sql-messages.ts";
import type { SqlThread, SqlThreadOptions } from "./sql-thread.ts";

/**
 * The lives of the worker thread. One that dies is started again, later each time. One that nobody needs is put to
 * sleep: it closes its databases and ends, which gives back its memory and its files, and is started again for the
 * next batch or question. Sleeping is no problem of the store.
 */
export interface SqlLife {
  readonly stage: Stage;
  /** Starts, also those after a sleep. */
  readonly starts: number;
  /** Why there is none: only while it is dead. */
  readonly problem: StoreProblem | undefined;
  /** Starts it where it sleeps; one that is leaving is started again when it is gone. */
  wake(): void;
  /** Hands it over; where it sleeps, as soon as it is awake. */
  post(request: SqlRequest): void;
  /** Whether the process stays for it. */
  hold(isHeld: boolean): void;
  /** Resolves when the worker has done what was posted before and is gone. */
  close(): Promise<void>;
}

/** `leaving`: told to close, and not gone yet. `dead`: it ended by itself, and waits for its next start. */
export type Stage = "awake" | "leaving" | "asleep" | "dead";

export interface SleepTimes {
  /** Without a batch or a question for so long it goes to sleep. */
  readonly idleMs: number;
  /** It sleeps no longer than this: what is too old has to be deleted also where nothing happens. */
  readonly sleepMs: number;
}

export interface SqlLifeOptions {
  readonly clock: Clock;
  readonly sleep: SleepTimes;
  readonly startThread: (on: Pick<SqlThreadOptions, "onReply" | "onEnded">) => SqlThread;
  /** Whether nothing is open, and both databases are in order: while one is not, the worker looks after it. */
  readonly maySleep: () => boolean;
  readonly onReply: (reply: Exclude<SqlReply, { kind: "closed" | "driverless" }>) => void;
  /** It is gone, with everything that was handed to it. */
  readonly onLost: (problem: StoreProblem) => void;
  readonly onClosed: () => void;
}

/** Starts the worker at once. */
export function createSqlLife(options: SqlLifeOptions): SqlLife {
  const { clock, sleep, startThread, maySleep, onReply, onLost, onClosed } = options;
  const delay = createRestartDelay();
  const idle = createIdleWatch({ clock, idleMs: sleep.idleMs, onIdle: fallAsleep });
  const closing = createClosing();
  /** What came while it was leaving. */
  let late: SqlRequest[] = [];
  let stage: Stage = "asleep";
  let isWanted = false;
  let isHeld = false;
  let isClosing = false;
  let hasClosed = false;
  let thread: SqlThread | undefined;
  let cancelStart: (() => void) | undefined;
  let starts = 0;
  let problem: StoreProblem | undefined;

  function start(): void {
    cancelStart?.();
    cancelStart = undefined;
    starts += 1;
    stage = "awake";
    isWanted = false;
    hasClosed = false;
    problem = undefined;
    delay.started(clock.monotonic());
    thread = startThread({ onReply: take, onEnded });
    if (isHeld) thread.hold(true);
    for (const request of late.splice(0)) thread.post(request);
    if (isClosing) thread.post({ kind: "close" });
    else idle.touch();
  }

  function fallAsleep(): boolean {
    if (stage !== "awake") return true;
    if (!maySleep()) return false;
    stage = "leaving";
    thread?.post({ kind: "close" });
    return true;
  }

  function take(reply: SqlReply): void {
    if (reply.kind === "driverless") problem = driverless(reply.message);
    else if (reply.kind === "closed") hasClosed = true;
    else onReply(reply);
  }

  function onEnded(reason: string): void {
    thread = undefined;
    const isAsleep = stage === "leaving" && hasClosed;
    stage = isAsleep ? "asleep" : "dead";
    if (isClosing && !(isAsleep && late.length > 0)) endClosing();
    else if (!isAsleep) revive(reason);
    else if (isWanted || late.length > 0) start();
    else cancelStart = clock.after(sleep.sleepMs, start);
  }

  function revive(reason: string): void {
    idle.stop();
    late = [];
    if (problem?.kind !== "driver") {
      const delayMs = delay.next(clock.monotonic());
      problem = workerLost(reason, delayMs);
      cancelStart = clock.after(delayMs, start);
    }
    onLost(problem);
  }

  function endClosing(): void {
    onClosed();
    closing.done();
  }

  function wake(): void {
    if (isClosing) return;
    if (stage === "asleep") start();
    else if (stage === "leaving") isWanted = true;
  }

  start();
  return {
    get stage() {
      return stage;
    },
    get starts() {
      return starts;
    },
    get problem() {
      return problem;
    },
    wake,
    post(request) {
      idle.touch();
      if (stage === "awake") thread?.post(request);
      else late.push(request);
      wake();
    },
    hold(held) {
      isHeld = held;
      thread?.hold(held);
    },
    close() {
      if (isClosing) return closing.promise;
      isClosing = true;
      cancelStart?.();
      idle.stop();
      if (stage === "awake") thread?.post({ kind: "close" });
      if (thread === undefined) endClosing();
      return closing.promise;
    },
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
