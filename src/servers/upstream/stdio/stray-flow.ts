import type { Readable } from "node:stream";

/** Limits the messages that nobody waits for: notifications, questions, lines that are not messages. */
export interface StrayFlow {
  /**
   * Counts messages. When there are too many, the server's output is not read for a moment: the server waits in its
   * own write, and other servers are not delayed.
   */
  note(count: number): void;
  /** Whether another line that is not a message may be reported. */
  mayTell(): boolean;
}

const windowMs = 100;
/** Per window, which makes 5,000 per second. Each takes about 10 µs of the one thread that serves everybody. */
const mostStrays = 500;
/** Per window; further ones look like the first. */
const mostTold = 100;

/** Pauses and resumes this stream. */
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
