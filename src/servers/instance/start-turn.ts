import type { Clock } from "../../kernel/clock.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { StartQueue } from "./start-queue.ts";

/** Who wants to start something, and until when. */
export interface Starter {
  readonly owner: PrincipalId | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Starts take turns because they keep the machine busy; one that takes longer waits for something else, or hangs, and
 * must not keep the others from starting (fault 65). The servers of a configuration are a few dozen and wanted at
 * once; those of many people may be hundreds, and rather wait for each other (fault 86).
 */
const longestTurnMs = { shared: 100, personal: 2_000 } as const;

/** Runs `start` when its turn has come. The turn ends with it, or before; the start goes on. */
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
