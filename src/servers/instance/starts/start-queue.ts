import { abortReason } from "../../../kernel/runtime/abort.ts";

/**
 * Allows a limited number of starts at a time. Waiting ones take turns by owner, so that somebody with fifty servers
 * does not keep the others waiting.
 */
export interface StartQueue {
  /**
   * Resolves to the function that ends the turn. Rejects with the signal's reason when the signal aborts while
   * waiting.
   */
  acquire(owner: string, signal: AbortSignal): Promise<() => void>;
  readonly waiting: number;
  /** Call when more starts may be allowed than before. */
  wake(): void;
}

/** `permits` is called each time, because the configuration may change. */
export function createStartQueue(permits: () => number): StartQueue {
  /** In the order in which the owners get their turns. */
  const queues = new Map<string, (() => void)[]>();
  let running = 0;
  let waiting = 0;

  function next(): void {
    while (running < permits()) {
      const [first] = queues;
      if (first === undefined) return;
      const [owner, queue] = first;
      queues.delete(owner);
      const grant = queue.shift();
      if (queue.length > 0) queues.set(owner, queue);
      grant?.();
    }
  }

  function take(): () => void {
    running += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      running -= 1;
      next();
    };
  }

  return {
    get waiting() {
      return waiting;
    },
    wake: next,
    acquire(owner, signal) {
      if (signal.aborted) return Promise.reject(abortReason(signal));
      if (running < permits() && waiting === 0) return Promise.resolve(take());
      return new Promise((resolve, reject) => {
        const queue = queues.get(owner) ?? [];
        const leave = () => {
          waiting -= 1;
          signal.removeEventListener("abort", giveUp);
        };
        const grant = () => {
          leave();
          resolve(take());
        };
        const giveUp = () => {
          leave();
          queue.splice(queue.indexOf(grant), 1);
          if (queue.length === 0 && queues.get(owner) === queue) queues.delete(owner);
          reject(abortReason(signal));
        };
        queue.push(grant);
        queues.set(owner, queue);
        waiting += 1;
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}
