import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { StoreProblem } from "../../record-store.ts";

/** When the worker thread is started next, and why there is none until then. */
export interface StartPlan {
  readonly problem: StoreProblem | undefined;
  /** It is started now. */
  started(): void;
  /** Starts it after so long, unless it is started before. */
  startIn(delayMs: number): void;
  /** It ended by itself: starts it again, later each time, but never where there is no driver. */
  startAgain(reason: string): StoreProblem;
  /** It has no room for its driver: it is tried again every few seconds. */
  awaitRoom(message: string): void;
  /** It cannot load a driver. */
  giveUp(message: string): void;
  cancel(): void;
}

export function createStartPlan(clock: Clock, start: () => void): StartPlan {
  const delay = createRestartDelay();
  let cancel = (): void => undefined;
  let problem: StoreProblem | undefined;
  return {
    get problem() {
      return problem;
    },
    started() {
      cancel();
      problem = undefined;
      delay.started(clock.monotonic());
    },
    startIn(delayMs) {
      cancel = clock.after(delayMs, start);
    },
    startAgain(reason) {
      if (problem !== undefined) return problem;
      const delayMs = delay.next(clock.monotonic());
      problem = workerLost(reason, delayMs);
      cancel = clock.after(delayMs, start);
      return problem;
    },
    awaitRoom(message) {
      problem = roomless(message);
      cancel = clock.after(roomMs, start);
    },
    giveUp(message) {
      problem = driverless(message);
    },
    cancel: () => cancel(),
  };
}

function workerLost(reason: string, restartMs: number): StoreProblem {
  const hint = `It is started again in ${restartMs / 1_000} s; records are kept back until then.`;
  return { database: null, kind: "worker", message: `the thread that has the database is gone: ${reason}`, hint };
}

/** Looking for room costs a start of the thread. */
const roomMs = 5_000;

function roomless(message: string): StoreProblem {
  const hint = "Make room on that disk: the gateway goes on by itself. Until then records are dropped and counted.";
  return { database: null, kind: "full", message, hint };
}

function driverless(message: string): StoreProblem {
  const hint =
    "Use Node 22.22 or newer, which has SQLite inside. Older ones need a data directory from which programs may " +
    "be loaded. Calls are served without.";
  return { database: null, kind: "driver", message, hint };
}

/** How long to wait before something that died is started again: longer each time. */
export interface RestartDelay {
  /** It starts now. */
  started(nowMs: number): void;
  /** It ended: the wait before the next start. */
  next(nowMs: number): number;
}

const firstMs = 1_000;
const longestMs = 60_000;

/** Times are of the monotonic clock. After a life of a minute it begins with one second again. */
export function createRestartDelay(): RestartDelay {
  let delayMs = firstMs;
  let startedMs = 0;
  return {
    started(nowMs) {
      startedMs = nowMs;
    },
    next(nowMs) {
      if (nowMs - startedMs > longestMs) delayMs = firstMs;
      const waitMs = delayMs;
      delayMs = Math.min(2 * delayMs, longestMs);
      return waitMs;
    },
  };
}
