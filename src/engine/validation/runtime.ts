import { createMatchers, toPatternTest } from "./formats/matcher.ts";
import { createBudget, type Budget } from "./budget.ts";

/** What checks need beside their schema. One per gateway is enough, because checks are synchronous. */
export interface Runtime {
  readonly budget: Budget;
  /** Characters of a text as JSON Schema counts them. Throws GivenUp. */
  readonly codePoints: (text: string) => number;
  /** Whether a text has the pattern in it, as far as that can be told; see `toPatternTest`. */
  readonly pattern: (pattern: string) => (text: string) => boolean | undefined;
}

export function createRuntime(monotonic: () => number, checkMs: number): Runtime {
  const budget = createBudget(monotonic, checkMs);
  const matcher = createMatchers(budget);
  return {
    budget,
    codePoints: (text) => codePoints(text, budget),
    pattern: (pattern) => toPatternTest(matcher, pattern),
  };
}

/** Equality of two JSON values (JSON Schema 2020-12 core, 4.2.2). Its steps are paid from the budget. */
export function equal(a: unknown, b: unknown, budget: Budget): boolean {
  if ((budget.left -= 1) < 0) budget.look();
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equal(item, b[index], budget));
  }
  if (Array.isArray(b)) return false;
  const keys = Object.keys(a);
  budget.left -= keys.length;
  if (keys.length !== Object.keys(b).length) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  return keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key], budget));
}

/** Length of a text as JSON Schema counts it (validation, 6.3.1): in code points. */
function codePoints(text: string, budget: Budget): number {
  budget.left -= text.length >> 4;
  if (budget.left < 0) budget.look();
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(index + 1) & 0xfc00) !== 0xdc00) continue;
    count -= 1;
    index += 1;
  }
  return count;
}
