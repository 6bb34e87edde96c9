import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { SpentTokens } from "./phrase-writer.ts";

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
export function toSpendingRecord(
  record: SpendingRecord,
  spent: SpentTokens | undefined,
  isFailure: boolean,
): SpendingRecord {
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
