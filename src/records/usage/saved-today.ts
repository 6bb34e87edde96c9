import type { FindingSession } from "./finding.ts";
import type { TokenSum } from "./list-costs.ts";

/** What today's conversations did not have to read. */
export interface SavedToday extends TokenSum {
  /** Conversations of which it is known what they saved. */
  readonly sessions: number;
  /** Those of clients that keep definitions from their models automatically: their savings are unknown. */
  readonly unknown: number;
}

/**
 * What was saved at the start of each conversation since `sinceMs`, less what finding tools cost in it. Negative where
 * finding cost more.
 */
export function sumSaved(sessions: readonly FindingSession[], sinceMs: number): SavedToday {
  const known = sessions.flatMap(({ startedMs, isLazy, saved, spent }) =>
    startedMs < sinceMs || isLazy || saved === undefined ? [] : [{ saved, spent }],
  );
  return {
    sessions: known.length,
    unknown: sessions.filter(({ startedMs, isLazy }) => isLazy && startedMs >= sinceMs).length,
    tokens: known.reduce((sum, { saved, spent }) => sum + saved.tokens - spent, 0),
    isExact: known.every(({ saved, spent }) => saved.isExact && spent === 0),
  };
}
