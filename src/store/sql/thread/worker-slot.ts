import type { SqlRequest } from "../sql-messages.ts";
import type { SqlThread } from "./sql-thread.ts";

/** The place of the worker thread: messages that are posted to it are kept until there is a thread in it. */
export interface WorkerSlot {
  readonly isTaken: boolean;
  /** Requests that wait for the next one. */
  readonly waiting: number;
  /** Gives what waited to the one that sits down now. */
  take(thread: SqlThread): void;
  post(request: SqlRequest): void;
  /** Tells the one that sits there to close, after what was posted before. What comes from now on waits. */
  dismiss(): void;
  /** The one that was in it has ended. */
  clear(): void;
  /** Forgets what waits. */
  forget(): void;
  /** Whether the process stays for it, no matter which thread it is. */
  hold(isHeld: boolean): void;
}

export function createWorkerSlot(): WorkerSlot {
  let waiting: SqlRequest[] = [];
  let isHeld = false;
  let isDismissed = false;
  let thread: SqlThread | undefined;
  return {
    get isTaken() {
      return thread !== undefined;
    },
    get waiting() {
      return waiting.length;
    },
    take(next) {
      thread = next;
      isDismissed = false;
      if (isHeld) next.hold(true);
      for (const request of waiting.splice(0)) next.post(request);
    },
    post(request) {
      if (thread === undefined || isDismissed) waiting.push(request);
      else thread.post(request);
    },
    dismiss() {
      if (isDismissed) return;
      isDismissed = true;
      thread?.post({ kind: "close" });
    },
    clear() {
      thread = undefined;
      isDismissed = false;
    },
    forget() {
      waiting = [];
    },
    hold(held) {
      isHeld = held;
      thread?.hold(held);
    },
  };
}
