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
 * At most so many instructions, roughly, does its program have: as many as characters, those that are repeated as often
 * as they may be.
 */
export function estimateProgram(pattern: string): number {
  /** Of each group that is open: its size so far. */
  const open: number[] = [];
  let size = 0;
  /** Of the character, class or group before, which is what a repetition repeats. */
  let last = 0;
  for (const [part, least, most = ""] of pattern.matchAll(parts)) {
    if (part === "(") {
      open.push(size + 1);
      size = last = 0;
    } else if (part === ")") {
      last = size + 1;
      size += open.pop() ?? 0;
      size += 1;
    } else if (least === undefined) {
      last = part.length;
      size += last;
    } else {
      const times = Math.max(1, Number(least), Number(most));
      // Each time but the first has a choice before it, where it may be left out.
      const more = (last + 1) * (times - 1);
      size += more;
      last += more;
    }
  }
  return open.reduce((sum, before) => sum + before, size);
}

/** A repetition with numbers, a group's begin or end, a class, an escape, or any other character. */
const parts = /\{(\d+)(?:,(\d*))?\}|[()]|\[(?:\\[\s\S]|[^\]\\])*\]|\\[\s\S]|[\s\S]/g;
