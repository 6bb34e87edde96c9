/**
 * Longer patterns and larger programs are dropped: in the worst case, matching costs the length of the text times the
 * size of the program.
 */
const patternLengthLimit = 500;
export const programSizeLimit = 2_500;
/** Tables of Unicode classes make compilation slow: 40 of them take a millisecond. */
const unicodeClassLimit = 8;

/** Escapes that RE2 reads differently from JavaScript: anchors, quoting, halves of surrogate pairs. */
const readOtherwise = /\\(?:[aACEQzZ]|u[dD][89a-fA-F])/;

/** Whether it is worth asking RE2. What it does not run in JavaScript's sense is never checked. */
export function mayRun(pattern: string): boolean {
  if (pattern.length > patternLengthLimit || readOtherwise.test(pattern)) return false;
  return (pattern.match(/\\[pP]/g)?.length ?? 0) <= unicodeClassLimit;
}

/**
 * At most so many instructions, roughly, does its program have: as many as characters, and those again for each
 * repetition, as if all of them were inside each other.
 */
export function estimateProgram(pattern: string): number {
  let size = pattern.length;
  for (const [, least = "", most = ""] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    size *= Math.max(1, Number(least), Number(most));
  return size;
}
