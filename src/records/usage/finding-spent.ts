import type { Clock } from "../../kernel/runtime/clock.ts";

/** What one person's models spent on finding tools, in tokens. Estimates. */
export interface FindingSpent {
  readonly principal: string;
  readonly answers: number;
  readonly answerTokens: number;
  readonly wrappedCalls: number;
  readonly wrappingTokens: number;
}

/** Counts of one day of UTC, by principal. */
export interface DaySpent {
  /** To be added to. */
  of(principal: string): { -readonly [Field in keyof FindingSpent]: FindingSpent[Field] };
  /** `sinceMs` is midnight, or when counting began. */
  today(): { readonly sinceMs: number; readonly spent: readonly FindingSpent[] };
}

/** People whose spending is counted apart; beyond them it is not counted. */
const mostPeople = 10_000;
const dayMs = 86_400_000;

/** Begins again with each day. */
export function createDaySpent(clock: Pick<Clock, "now">): DaySpent {
  let sinceMs = clock.now();
  let nextDayMs = endOfDay(sinceMs);
  let byPerson = new Map<string, ReturnType<DaySpent["of"]>>();

  function turnOver(): void {
    const nowMs = clock.now();
    if (nowMs < nextDayMs) return;
    nextDayMs = endOfDay(nowMs);
    sinceMs = nextDayMs - dayMs;
    byPerson = new Map();
  }

  return {
    of(principal) {
      turnOver();
      let spent = byPerson.get(principal);
      if (spent === undefined) {
        spent = { principal, answers: 0, answerTokens: 0, wrappedCalls: 0, wrappingTokens: 0 };
        if (byPerson.size < mostPeople) byPerson.set(principal, spent);
      }
      return spent;
    },
    today() {
      turnOver();
      return { sinceMs, spent: [...byPerson.values()] };
    },
  };
}

function endOfDay(atMs: number): number {
  return (Math.floor(atMs / dayMs) + 1) * dayMs;
}
