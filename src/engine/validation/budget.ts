/** Thrown within a check that cannot or must not be finished. The value then counts as unchecked. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

/**
 * The time for one check. A check takes units from `left` and calls `look` when there are none left. This is
 * needed because a small schema can ask for 2^40 steps (`allOf` of two references, forty levels deep), and
 * `uniqueItems` takes n^2 steps for a large value.
 */
export interface Budget {
  left: number;
  /** Reads the clock and grants more units. Throws GivenUp when the time is used up. */
  look(): void;
  /** Starts a new check. */
  begin(): void;
}

/** Units between two readings of the clock. One unit is about one compared member, or one examined item. */
export const unitsPerLook = 256;

/** A budget of `checkMs` milliseconds per check, by the given monotonic clock. */
export function createBudget(monotonic: () => number, checkMs: number): Budget {
  let deadlineMs: number | undefined;
  return {
    left: unitsPerLook,
    look() {
      const nowMs = monotonic();
      deadlineMs ??= nowMs + checkMs;
      if (nowMs > deadlineMs) throw new GivenUp(`the check took longer than ${checkMs} ms`);
      this.left = unitsPerLook;
    },
    begin() {
      deadlineMs = undefined;
      this.left = unitsPerLook;
    },
  };
}
