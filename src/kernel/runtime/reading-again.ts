import type { Clock } from "./clock.ts";

/** Something that others change, and that has to be read again when they do. */
export interface ReadingAgain {
  /** Only a reading that begins from now on counts: one that is under way is followed by another. */
  ask(): void;
  stop(): void;
}

export interface ReadingAgainDeps {
  readonly clock: Pick<Clock, "after">;
  /** Never called twice at once. */
  readonly read: () => Promise<void>;
  /** A reading failed, and is tried again. */
  readonly onFailed: (error: unknown) => void;
}

const firstPauseMs = 250;
const longestPauseMs = 10_000;

/**
 * Reads until it has succeeded once after it was last asked for: with pauses of 250 ms that double up to 10 s. It never
 * gives up: the gateway would go on with data that was removed elsewhere.
 */
export function createReadingAgain({ clock, read, onFailed }: ReadingAgainDeps): ReadingAgain {
  let state: "idle" | "reading" | "asked" | "stopped" = "idle";
  let pauseMs = firstPauseMs;
  let cancel = (): void => undefined;

  async function start(): Promise<void> {
    cancel();
    do {
      state = "reading";
      try {
        await read();
        pauseMs = firstPauseMs;
      } catch (error) {
        if (isStopped()) return;
        onFailed(error);
        state = "idle";
        cancel = clock.after(pauseMs, () => void start());
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        return;
      }
    } while (wasAsked());
    if (!isStopped()) state = "idle";
  }

  /** Functions of their own, because the compiler does not see that the state changes while `read` is awaited. */
  function wasAsked(): boolean {
    return state === "asked";
  }

  function isStopped(): boolean {
    return state === "stopped";
  }

  return {
    ask() {
      if (state === "idle") void start();
      else if (state === "reading") state = "asked";
    },
    stop() {
      state = "stopped";
      cancel();
    },
  };
}
