import { RE2JS } from "re2js";
import { mayRun, programSizeLimit } from "./pattern-limits.ts";

/**
 * The size of the pattern's program. Undefined when RE2 cannot run the pattern as JavaScript would: lookaround and
 * back references cannot be matched in linear time. Used in the worker only. A pattern with a size is safe to compile
 * on the main thread.
 */
export function patternCost(pattern: string): number | undefined {
  if (!mayRun(pattern)) return undefined;
  try {
    const size = compilePattern(pattern).programSize();
    return size <= programSizeLimit ? size : undefined;
  } catch {
    // A syntax error is an expected result here.
    return undefined;
  }
}

/**
 * Compiles the pattern with RE2, with JavaScript's meaning (`\uXXXX`, `(?<name>`). Throws on what RE2 does not know.
 */
export function compilePattern(pattern: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(pattern));
}
