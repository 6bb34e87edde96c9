import { RE2JS } from "re2js";

/**
 * Longer patterns and larger programs are dropped: in the worst case, matching costs the length of the text times the
 * size of the program.
 */
const patternLengthLimit = 500;
const programSizeLimit = 2_500;
/** Tables of Unicode classes make compilation slow: 40 of them take a millisecond. */
const unicodeClassLimit = 8;

/** Escapes that RE2 reads differently from JavaScript: anchors, quoting, halves of surrogate pairs. */
const readOtherwise = /\\(?:[aACEQzZ]|u[dD][89a-fA-F])/;

/**
 * The size of the pattern's program. Undefined when RE2 cannot run the pattern as JavaScript would: lookaround and
 * back references cannot be matched in linear time. Used in the worker only. A pattern with a size is safe to compile
 * on the main thread.
 */
export function patternCost(pattern: string): number | undefined {
  if (pattern.length > patternLengthLimit || readOtherwise.test(pattern)) return undefined;
  if ((pattern.match(/\\[pP]/g)?.length ?? 0) > unicodeClassLimit) return undefined;
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
