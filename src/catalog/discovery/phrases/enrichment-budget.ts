import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { SpentTokens } from "./phrase-writer.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";

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

/** What writing phrases has cost since the first start. */
export interface SpendingRecord {
  /** Questions, one tool each. */
  readonly asked: number;
  /** Those that brought no phrases: refused, not answered, or answered with something else. */
  readonly failed: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
  /** Whether every answer said what it took; otherwise some of it is an estimate. */
  readonly isExact: boolean;
}

export const nothingSpent: SpendingRecord = Object.freeze({
  asked: 0,
  failed: 0,
  promptTokens: 0,
  answerTokens: 0,
  isExact: true,
});

/** The record with one question more. */
function toSpendingRecord(record: SpendingRecord, spent: SpentTokens | undefined, isFailure: boolean): SpendingRecord {
  return {
    asked: record.asked + 1,
    failed: record.failed + (isFailure ? 1 : 0),
    promptTokens: record.promptTokens + (spent?.prompt ?? 0),
    answerTokens: record.answerTokens + (spent?.answer ?? 0),
    isExact: record.isExact && (spent === undefined || spent.isReported),
  };
}

/** The file may hold anything: a value that is no record counts as nothing spent. */
export function readSpending(value: unknown): SpendingRecord {
  if (!isJsonObject(value)) return nothingSpent;
  const count = (name: keyof SpendingRecord): number => {
    const kept = value[name];
    return typeof kept === "number" && Number.isSafeInteger(kept) && kept >= 0 ? kept : 0;
  };
  return {
    asked: count("asked"),
    failed: count("failed"),
    promptTokens: count("promptTokens"),
    answerTokens: count("answerTokens"),
    isExact: value["isExact"] === true,
  };
}
