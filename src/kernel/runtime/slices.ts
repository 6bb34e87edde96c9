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

/** One turn of the event loop has one slice, however many pieces of work there are: they take turns. */
export function createSlices(): Slices {
  const waiting: (() => boolean)[] = [];

  function takeTurn(): void {
    const [turn] = waiting.splice(0, 1);
    if (turn === undefined) return;
    if (!turn()) waiting.push(turn);
    if (waiting.length > 0) setImmediate(takeTurn);
  }

  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        const turn = (): boolean => {
          try {
            const end = performance.now() + sliceMs;
            for (;;) {
              const step = work.next();
              if (step.done === true) {
                resolve(step.value);
                return true;
              }
              if (performance.now() >= end) return false;
            }
          } catch (error) {
            reject(error);
            return true;
          }
        };
        // Work that fits into one slice need not wait for a turn, as long as nothing else does.
        if (waiting.length === 0 && turn()) return;
        waiting.push(turn);
        if (waiting.length === 1) setImmediate(takeTurn);
      }),
  };
}
