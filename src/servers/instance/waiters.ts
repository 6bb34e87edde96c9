import { setMaxListeners } from "node:events";
import { abortReason } from "../../kernel/runtime/abort.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Callers that wait for the same thing. */
export interface Waiters<T> {
  wait(signal: AbortSignal): Promise<T>;
  resolveAll(value: T): void;
  rejectAll(error: () => GatewayError): void;
  readonly size: number;
}

/** Without waiters at first. */
export function createWaiters<T>(): Waiters<T> {
  const waiting = new Set<{ resolve: (value: T) => void; reject: (error: Error) => void }>();
  return {
    wait(signal) {
      // One search or report waits for every server with the same signal; so many listeners are no leak.
      setMaxListeners(0, signal);
      return new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(abortReason(signal));
          return;
        }
        const leave = () => {
          waiting.delete(entry);
          signal.removeEventListener("abort", onAbort);
        };
        const onAbort = () => {
          leave();
          reject(abortReason(signal));
        };
        const entry = {
          resolve: (value: T) => {
            leave();
            resolve(value);
          },
          reject: (error: Error) => {
            leave();
            reject(error);
          },
        };
        waiting.add(entry);
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
    resolveAll(value) {
      for (const entry of waiting) entry.resolve(value);
    },
    rejectAll(error) {
      for (const entry of waiting) entry.reject(error());
    },
    get size() {
      return waiting.size;
    },
  };
}
