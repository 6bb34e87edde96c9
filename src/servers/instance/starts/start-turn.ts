import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { StartQueue } from "./start-queue.ts";

/** Who wants to start something, and the signal that ends the wait. */
export interface Starter {
  readonly owner: PrincipalId | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * How long one start may keep its turn. Starts take turns because they keep the machine busy. A start that takes
 * longer is waiting for something else or hangs, and must not delay the others (fault 65). The servers of a
 * configuration are a few dozen, and all are needed at once; personal ones may be hundreds, and may delay each other
 * a little (fault 86).
 */
const longestTurnMs = { shared: 100, personal: 2_000 } as const;

/**
 * Runs `start` when it is its turn. The turn ends with the start or after the longest turn, in which case the start
 * continues.
 */
export async function withTurn<T>(queue: StartQueue, starter: Starter, start: () => Promise<T>): Promise<T> {
  const { owner, clock, signal } = starter;
  const release = await queue.acquire(owner ?? "", signal);
  const cancelTurn = clock.after(longestTurnMs[owner === null ? "shared" : "personal"], release);
  try {
    return await start();
  } finally {
    cancelTurn();
    release();
  }
}
