import { RE2JS } from "re2js";

/**
 * Longer patterns and larger programs are dropped: matching costs length of text times size of program at the worst.
 */
const patternLengthLimit = 500;
const programSizeLimit = 2_500;
/** Tables of Unicode classes make compilation slow: 40 of them cost a millisecond. */
const unicodeClassLimit = 8;

/** Escapes that RE2 reads otherwise than JavaScript: anchors, quoting, halves of surrogate pairs. */
const readOtherwise = /\\(?:[aACEQzZ]|u[dD][89a-fA-F])/;

/**
 * Size of the pattern's program, or undefined when RE2 cannot run it as JavaScript would: lookaround and back
 * references have no linear-time form. Used in the worker only: a pattern that comes out of it is safe to compile on
 * the main thread.
 */
export function patternCost(pattern: string): number | undefined {
  if (pattern.length > patternLengthLimit || readOtherwise.test(pattern)) return undefined;
  if ((pattern.match(/\\[pP]/g)?.length ?? 0) > unicodeClassLimit) return undefined;
  try {
    const size = compilePattern(pattern).programSize();
    return size <= programSizeLimit ? size : undefined;
  } catch {
    // A syntax error is the expected answer here.
    return undefined;
  }
}

/** The pattern as JavaScript means it (`\uXXXX`, `(?<name>`), compiled by RE2. Throws on what RE2 does not know. */
export function compilePattern(pattern: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(pattern));
}
