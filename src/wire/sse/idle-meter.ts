/**
 * Comments and empty lines that may come in a row within a minute. A stream of nothing else, as fast as it can, would
 * take the whole processor until the call's deadline. Keep-alives come to as much only in hours, and may do so.
 */
export const mostIdleBytes = 1024 * 1024;
export const idleWindowMs = 60_000;

/** Counts the bytes of an event stream that say nothing. */
export interface IdleMeter {
  /** A chunk of so many bytes came, and is read next. */
  begin(chunkBytes: number): void;
  /** Something was said: an event, or a part of one. */
  end(): void;
  /** Whether too much came too fast with this chunk, after which so many bytes of a line are `held` until it ends. */
  isTooMuch(held: number): boolean;
}

export function createIdleMeter(now: () => number): IdleMeter {
  let idleBytes = 0;
  /** What was held before. It counts once its line has turned out to say nothing. */
  let heldBytes = 0;
  let windowMs = now();

  return {
    begin(chunkBytes) {
      idleBytes += chunkBytes;
    },
    end() {
      idleBytes = heldBytes = 0;
    },
    isTooMuch(held) {
      idleBytes = Math.max(0, idleBytes + heldBytes - held);
      heldBytes = held;
      if (idleBytes <= mostIdleBytes) return false;
      const beganMs = windowMs;
      windowMs = now();
      idleBytes = 0;
      return windowMs - beganMs <= idleWindowMs;
    },
  };
}
