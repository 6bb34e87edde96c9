import type { Clock } from "../../../kernel/runtime/clock.ts";
import { toSpendingRecord, type SpendingRecord } from "./enrichment-spending.ts";
import type { SpentTokens } from "./phrase-writer.ts";

const minuteMs = 60_000;
const hourMs = 3_600_000;

export interface EnrichmentLimits {
  readonly toolsPerMinute: number;
  readonly toolsPerHour: number;
  readonly tokensPerHour: number;
  /** Over all starts. */
  readonly tokensInAll: number;
}

/** Why nothing may be begun now, and for how long. */
export interface BudgetWait {
  readonly ms: number;
  readonly until: "the next minute" | "the next hour";
}

/**
 * What may be spent within a minute, an hour and in all. A minute or hour begins with the first tool asked for in it.
 */
export interface EnrichmentBudget {
  /** Undefined when a tool may be asked for now. */
  wait(): BudgetWait | "spent" | undefined;
  begin(): void;
  /** A question has ended. Undefined: nothing was spent. */
  end(spent: SpentTokens | undefined, isFailure: boolean): void;
  readonly tokensThisHour: number;
  /** Over all starts. */
  readonly spending: SpendingRecord;
}

/** `before` is what was spent until the last start. */
export function createEnrichmentBudget(
  limits: EnrichmentLimits,
  before: SpendingRecord,
  clock: Pick<Clock, "monotonic">,
): EnrichmentBudget {
  const minute = createWindow(minuteMs, clock);
  const hour = createWindow(hourMs, clock);
  let spending = before;

  return {
    wait() {
      if (spending.promptTokens + spending.answerTokens >= limits.tokensInAll) return "spent";
      const { tools, tokens } = hour.now();
      if (tools >= limits.toolsPerHour || tokens >= limits.tokensPerHour)
        return { ms: hour.leftMs(), until: "the next hour" };
      if (minute.now().tools >= limits.toolsPerMinute) return { ms: minute.leftMs(), until: "the next minute" };
      return undefined;
    },
    begin() {
      minute.now().tools += 1;
      hour.now().tools += 1;
    },
    end(spent, isFailure) {
      if (spent !== undefined) hour.now().tokens += spent.prompt + spent.answer;
      spending = toSpendingRecord(spending, spent, isFailure);
    },
    get tokensThisHour() {
      return hour.now().tokens;
    },
    get spending() {
      return spending;
    },
  };
}

interface Window {
  now(): { tools: number; tokens: number };
  leftMs(): number;
}

function createWindow(lengthMs: number, clock: Pick<Clock, "monotonic">): Window {
  let startedMs = Number.NEGATIVE_INFINITY;
  let counts = { tools: 0, tokens: 0 };
  return {
    now() {
      if (clock.monotonic() - startedMs >= lengthMs) {
        startedMs = clock.monotonic();
        counts = { tools: 0, tokens: 0 };
      }
      return counts;
    },
    leftMs: () => Math.max(1, startedMs + lengthMs - clock.monotonic()),
  };
}
