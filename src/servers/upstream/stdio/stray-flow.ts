import type { Readable } from "node:stream";

/** What a server says that nobody waits for: notifications, questions, lines that are no messages. */
export interface StrayFlow {
  /**
   * So many more came. A server that says too much is not read for a moment: it waits in its own write, and the
   * others go on.
   */
  note(count: number): void;
  /** Whether another line that is no message may be told of. */
  mayTell(): boolean;
}

const windowMs = 100;
/** Per window: 5,000 a second, each some 10 µs of the one thread that serves everybody. */
const mostStrays = 500;
/** Per window; the others are as the first. */
const mostTold = 100;

export function createStrayFlow(stdout: Pick<Readable, "pause" | "resume" | "isPaused">): StrayFlow {
  let count = 0;
  let told = 0;
  let window: NodeJS.Timeout | undefined;

  function endWindow(): void {
    window = undefined;
    count = 0;
    told = 0;
    if (stdout.isPaused()) stdout.resume();
  }

  return {
    note(more) {
      if (more <= 0) return;
      window ??= setTimeout(endWindow, windowMs);
      count += more;
      if (count > mostStrays) stdout.pause();
    },
    mayTell() {
      told += 1;
      return told <= mostTold;
    },
  };
}
