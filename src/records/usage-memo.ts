import type { Clock } from "../kernel/clock.ts";
import type { UsageQuery, UsageSum } from "../store/record-store.ts";
import { hourOf } from "./usage-rows.ts";

/**
 * Sums of the written hours that were read lately, so that a page that stays open does not keep the store's thread
 * awake: it asks the same again and again, and between two hands-over of counts the answer is the same.
 */
export interface UsageMemo {
  get(query: UsageQuery): readonly UsageSum[] | undefined;
  set(query: UsageQuery, sums: readonly UsageSum[]): void;
  /** Something was handed over to the store. */
  clear(): void;
}

/** Questions that are asked again: those of a few pages. */
const mostQuestions = 16;
/** Of one answer: 300 kB. Larger ones are read again. */
const mostSums = 1_000;
const hourMs = 3_600_000;

/** What is known is forgotten when an hour begins, because the store deletes old hours. */
export function createUsageMemo(clock: Pick<Clock, "now">): UsageMemo {
  const answers = new Map<string, readonly UsageSum[]>();
  let sinceHourMs = 0;

  function forgetLastHour(): void {
    const now = hourOf(clock.now());
    if (now !== sinceHourMs) answers.clear();
    sinceHourMs = now;
  }

  return {
    get(query) {
      forgetLastHour();
      return answers.get(keyOf(query));
    },
    set(query, sums) {
      forgetLastHour();
      if (sums.length > mostSums) return;
      const [oldest] = answers.keys();
      if (answers.size >= mostQuestions && oldest !== undefined) answers.delete(oldest);
      answers.set(keyOf(query), sums);
    },
    clear: () => answers.clear(),
  };
}

/** Whole hours are summed, so that a question whose end is now is the same for an hour. */
function keyOf({ fromMs, toMs, by, limit: _limit, ...filters }: UsageQuery): string {
  const hours = [Math.floor(fromMs / hourMs), Math.ceil(toMs / hourMs)];
  const named = Object.entries(filters).filter(([, value]) => value !== undefined);
  return JSON.stringify([hours, by, named.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
}
