/** Thrown inside a check that cannot or may not be finished: the value then counts as unchecked. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

/**
 * Time for one check. Compiled code takes units from `left` and calls `look` when they run out, because a small
 * schema can ask for 2^40 steps (`allOf` of two references, forty levels deep) and a large value meets `uniqueItems`
 * in n^2.
 */
export interface Budget {
  left: number;
  /** Reads the clock and grants more units. Throws GivenUp when the time is over. */
  look(): void;
  /** Starts a new check. */
  begin(): void;
}

/** Units between two looks at the clock: one is about one member compared, or one item looked at. */
export const unitsPerLook = 256;

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
