import { abortReason } from "./abort.ts";

/** Admits at most `permits` holders at a time; others wait in order of arrival. */
export interface Semaphore {
  /**
   * Resolves to the function that releases the permit. Rejects with the signal's reason when the signal aborts first.
   */
  acquire(signal: AbortSignal): Promise<() => void>;
  readonly waiting: number;
}

/** A semaphore with that many permits. */
export function createSemaphore(permits: number): Semaphore {
  let free = permits;
  const queue: Array<() => void> = [];

  function release(): void {
    const next = queue.shift();
    if (next) next();
    else free += 1;
  }

  function releaseOnce(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      release();
    };
  }

  return {
    get waiting() {
      return queue.length;
    },
    acquire(signal) {
      if (signal.aborted) return Promise.reject(abortReason(signal));
      if (free > 0) {
        free -= 1;
        return Promise.resolve(releaseOnce());
      }
      return new Promise((resolve, reject) => {
        const grant = () => {
          signal.removeEventListener("abort", giveUp);
          resolve(releaseOnce());
        };
        const giveUp = () => {
          queue.splice(queue.indexOf(grant), 1);
          reject(abortReason(signal));
        };
        queue.push(grant);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}
