import { setImmediate } from "node:timers";

/** After this long of one piece of work, everything else gets its turn. */
const sliceMs = 4;

/** Work that is done in short turns, so that other requests to the process wait for one turn at most. */
export interface Slices {
  /** Takes the steps of `work`, each of which has to be short; resolves to what it returns. */
  run<R>(work: Generator<unknown, R>): Promise<R>;
}

/** All steps of `work` in this turn, for those who cannot wait. */
export function allSteps<R>(work: Generator<unknown, R>): R {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Each works until the time it is given, and says whether it came to its end. */
const waiting: ((endMs: number) => boolean)[] = [];
/** What works that were done at once have taken of this turn of the event loop. */
let takenMs = 0;

let isTurnComing = false;

function wantTurn(): void {
  if (isTurnComing || waiting.length === 0) return;
  isTurnComing = true;
  setImmediate(takeTurn);
}

function takeTurn(): void {
  const endMs = performance.now() + sliceMs;
  do {
    const [work] = waiting.splice(0, 1);
    if (work !== undefined && !work(endMs)) waiting.push(work);
  } while (waiting.length > 0 && performance.now() < endMs);
  isTurnComing = false;
  wantTurn();
}

/** Works until the time is over; whether it came to its end. */
function workUntil(endMs: number, work: Generator, settle: (value: unknown) => void): boolean {
  for (;;) {
    const step = work.next();
    if (step.done === true) {
      settle(step.value);
      return true;
    }
    if (performance.now() >= endMs) return false;
  }
}

/**
 * One turn of the event loop has one slice, however many pieces of work there are in the whole process: they take
 * turns. Twenty servers that list at the same time take no longer in one turn than one does.
 */
export const slices: Slices = {
  run: <R>(work: Generator<unknown, R>) =>
    new Promise<R>((resolve, reject) => {
      const turn = (endMs: number): boolean => {
        try {
          return workUntil(endMs, work, resolve as (value: unknown) => void);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return true;
        }
      };
      // Work that fits into the rest of this slice need not wait for a turn, as long as nothing else does.
      if (waiting.length === 0 && takenMs < sliceMs) {
        const startMs = performance.now();
        if (takenMs === 0) setImmediate(() => (takenMs = 0)).unref();
        const isDone = turn(startMs + sliceMs - takenMs);
        takenMs += performance.now() - startMs;
        if (isDone) return;
      }
      waiting.push(turn);
      wantTurn();
    }),
};
