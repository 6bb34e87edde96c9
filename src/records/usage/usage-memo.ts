import type { Clock } from "../../kernel/runtime/clock.ts";
import type { UsageQuery, UsageSum } from "../../store/record-store.ts";
import { hourOf } from "./usage-rows.ts";

/**
 * Sums of the written hours that were read lately, so that a page that stays open does not keep the store's thread
 * awake: it asks the same again and again, and between two hands-over of counts the answer is the same.
 */
export interface UsageMemo {
  get(query: UsageQuery): readonly UsageSum[] | undefined;
  set(query: UsageQuery, sums: readonly UsageSum[]): void;
  /** Something was handed over to the store, or it may have another file. */
  clear(): void;
}

/** Questions that are asked again: a page asks some ten, and several people look at theirs. */
const mostQuestions = 128;
/** Of one answer: 300 kB. Larger ones are read again. */
const mostSums = 1_000;
/** Of all answers together: 5 MB. */
const mostSumsInAll = 16_000;
const hourMs = 3_600_000;

/**
 * Entries are dropped when an hour begins, because the store deletes old hours, and where there is no room for more,
 * the least recently used one.
 */
export function createUsageMemo(clock: Pick<Clock, "now">): UsageMemo {
  /** The one that was asked last is the last. */
  const answers = new Map<string, readonly UsageSum[]>();
  let sums = 0;
  let sinceHourMs = 0;

  function clear(): void {
    answers.clear();
    sums = 0;
  }

  function forget(key: string): void {
    sums -= answers.get(key)?.length ?? 0;
    answers.delete(key);
  }

  function remember(key: string, answer: readonly UsageSum[]): void {
    forget(key);
    answers.set(key, answer);
    sums += answer.length;
  }

  function forgetLastHour(): void {
    const now = hourOf(clock.now());
    if (now !== sinceHourMs) clear();
    sinceHourMs = now;
  }

  return {
    get(query) {
      forgetLastHour();
      const key = keyOf(query);
      const answer = answers.get(key);
      if (answer !== undefined) remember(key, answer);
      return answer;
    },
    set(query, answer) {
      forgetLastHour();
      if (answer.length > mostSums) return;
      remember(keyOf(query), answer);
      for (const oldest of answers.keys()) {
        if (answers.size <= mostQuestions && sums <= mostSumsInAll) break;
        forget(oldest);
      }
    },
    clear,
  };
}

/** Whole hours are summed, so that a question whose end is now is the same for an hour. */
function keyOf({ fromMs, toMs, by, limit: _limit, ...filters }: UsageQuery): string {
  const hours = [Math.floor(fromMs / hourMs), Math.ceil(toMs / hourMs)];
  const named = Object.entries(filters).filter(([, value]) => value !== undefined);
  return JSON.stringify([hours, by, named.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
}
