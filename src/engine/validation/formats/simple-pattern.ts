/**
 * One character of a pattern, or one of several: all of them ASCII, so that nothing depends on how texts are encoded.
 */
const one = String.raw`(?:[\w ,:;@#%&!=<>~/-]|\\[dw.\-/+*?()[\]{}|^$]|\[(?:[\w ,:;@#%&+*()/!=<>~.-]|\\[dw.\-/+])+\])`;
const exactly = String.raw`(?:\{\d{1,3}\})?`;
const variably = String.raw`(?:[+*?]|\{\d{1,3},\d{0,3}\})`;
const simple = new RegExp(`^\\^(?:${one}${exactly})*(?:${one}${variably})?(?:${one}${exactly})*\\$$`);

/**
 * The pattern as JavaScript's own, where that means the same and takes no longer than RE2: a whole text of characters
 * and classes, of which one may be there any number of times. Most patterns of real tools are such, and for them the
 * first call does not wait until RE2 is loaded (30 ms). Undefined for all others.
 */
export function toSimplePattern(pattern: string): RegExp | undefined {
  if (pattern.length > longestSimple || !simple.test(pattern)) return undefined;
  try {
    return new RegExp(pattern);
  } catch {
    // A range from Z to A, for instance: RE2 has its own opinion of it.
    return undefined;
  }
}

const longestSimple = 200;
