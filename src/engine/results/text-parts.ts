import { endWithin } from "../../catalog/exposure/token-estimate.ts";

/**
 * The end of the piece of a text that begins at `start` and costs at most `maxTokens` (an estimate, see
 * `token-estimate.ts`). It ends behind a line where the second half of the piece has such a place, otherwise behind a
 * word, otherwise between two characters, and is never empty: a text is read to its end in finitely many pieces.
 */
export function endOfPart(text: string, start: number, maxTokens: number): number {
  const furthest = endWithin(text, start, maxTokens);
  if (furthest >= text.length) return text.length;
  const least = start + Math.floor((furthest - start) / 2);
  const line = text.lastIndexOf("\n", furthest - 1) + 1;
  if (line > least) return line;
  const word = text.lastIndexOf(" ", furthest - 1) + 1;
  if (word > least) return word;
  if (furthest > start) return furthest;
  return start + charactersWithin(text, start, maxTokens);
}

/** One word longer than a whole part (base64, a minified script): no character costs more than four tokens. */
function charactersWithin(text: string, start: number, maxTokens: number): number {
  const length = Math.max(1, Math.floor(maxTokens / 4));
  return isSplitPair(text, start + length) ? length + 1 : length;
}

/** Whether a cut at this index would leave half a character on each side. */
function isSplitPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
