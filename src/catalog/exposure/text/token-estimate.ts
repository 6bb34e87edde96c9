/**
 * Estimates how many o200k tokens a text costs, well enough to keep a budget: on whole answers within about 10 %, and
 * rather too many than too few. A real tokenizer holds tens of megabytes of merges; this one holds a few constants.
 *
 * The text is cut into pieces as o200k cuts it (words with one leading character, three digits, runs of punctuation,
 * space), and each kind of piece has a price by its length, fitted to tool definitions. Linear in the length of the
 * text; uses no regular expression.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    // Text of other scripts is half of what there is: without an object for each character.
    if (code >= 128 && (code & 0xf800) !== 0xd800) {
      tokens += prices[code >> 4] as number;
      at += 1;
      continue;
    }
    const piece = pieceAt(text, at);
    tokens += piece.tokens;
    at = piece.end;
  }
  return Math.ceil(tokens * caution);
}

/**
 * Where the text from `start` on has used up `maxTokens`, as {@link estimateTokens} counts them: an index at which it
 * may be cut without splitting a word or a character; its end when it costs no more. A single piece that costs more
 * than all of it is not taken. Reads no further than that.
 */
export function endWithin(text: string, start: number, maxTokens: number): number {
  const budget = maxTokens / caution;
  let tokens = 0;
  let at = start;
  while (at < text.length) {
    const piece = pieceAt(text, at);
    tokens += piece.tokens;
    if (tokens > budget) return at;
    at = piece.end;
  }
  return at;
}

/** Errors go up, not down: an answer that is a little short is better than one over its budget. */
const caution = 1.02;

interface Piece {
  readonly end: number;
  readonly tokens: number;
}

function pieceAt(text: string, at: number): Piece {
  const kind = kindOf(text.charCodeAt(at));
  switch (kind) {
    case "lower":
    case "upper":
    case "digit":
      return letters(text, at, "none");
    case "space":
      return spaceAt(text, at);
    case "punctuation":
      return punctuation(text, at);
    case "wide":
      return wide(text, at);
  }
}

type Kind = "lower" | "upper" | "digit" | "space" | "punctuation" | "wide";

function kindOf(code: number): Kind {
  if (code >= 97 && code <= 122) return "lower";
  if (code >= 65 && code <= 90) return "upper";
  if (code >= 48 && code <= 57) return "digit";
  if (code === 32 || (code >= 9 && code <= 13)) return "space";
  return code < 128 ? "punctuation" : "wide";
}

/** What precedes a word and may be part of its first token. */
type Prefix = "none" | "space" | "sign";

/** Letters and digits without a gap: one word, a camelCase name, or opaque text such as base64. */
function letters(text: string, start: number, prefix: Prefix): Piece {
  let at = start;
  let tokens = 0;
  let segments = 0;
  while (at < text.length) {
    const from = at;
    at = endOfSegment(text, at);
    if (at === from) break;
    tokens += segmentPrice(text, from, at, segments === 0 ? prefix : "none");
    segments += 1;
  }
  const length = at - start;
  const opaque = length >= 12 && segments * 4 >= length;
  return { end: at, tokens: opaque ? Math.max(tokens, length * 0.7) : tokens };
}

/** Where a segment `Upper* lower*` or of three digits ends, as o200k cuts. The start itself when neither is there. */
function endOfSegment(text: string, start: number): number {
  let at = start;
  if (kindOf(text.charCodeAt(at)) === "digit") {
    while (at < text.length && at < start + 3 && kindOf(text.charCodeAt(at)) === "digit") at += 1;
    return at;
  }
  while (at < text.length && kindOf(text.charCodeAt(at)) === "upper") at += 1;
  while (at < text.length && kindOf(text.charCodeAt(at)) === "lower") at += 1;
  return at;
}

function segmentPrice(text: string, from: number, to: number, prefix: Prefix): number {
  const length = to - from;
  const first = kindOf(text.charCodeAt(from));
  if (first === "digit") return prefix === "none" ? 1 : 2;
  const capitals = first === "upper" && (length === 1 || kindOf(text.charCodeAt(to - 1)) === "upper");
  const rare = longestConsonantRun(text, from, to) >= 5 ? length / 6 : 0;
  if (capitals) return 1 + Math.max(0, length - 2) * 0.14 + rare + (prefix === "sign" ? 0.3 : 0);
  // A word longer than any English one is a compound or opaque.
  const long = Math.max(0, length - 13) * 0.25 + rare;
  if (prefix === "space") return 1 + length * 0.006 + long;
  if (prefix === "sign") return 1.15 + Math.max(0, length - 2) * 0.09 + long;
  return 1 + Math.max(0, length - 4) * 0.045 + long;
}

function longestConsonantRun(text: string, from: number, to: number): number {
  let run = 0;
  let longest = 0;
  for (let at = from; at < to; at += 1) {
    run = "aeiouyAEIOUY".includes(text.charAt(at)) ? 0 : run + 1;
    if (run > longest) longest = run;
  }
  return longest;
}

/**
 * A space belongs to the following word. A longer run, or a line break, is one token; a very long run takes a few.
 */
function spaceAt(text: string, start: number): Piece {
  let end = start;
  while (end < text.length && kindOf(text.charCodeAt(end)) === "space") end += 1;
  const length = end - start;
  const extra = length === 1 ? 0 : 1 + Math.floor(length / 64);
  if (text.charCodeAt(end - 1) !== 32 || end === text.length) return { end, tokens: Math.max(1, extra) };
  const next = kindOf(text.charCodeAt(end));
  if (next === "lower" || next === "upper" || next === "digit") {
    const word = letters(text, end, "space");
    return { end: word.end, tokens: extra + word.tokens };
  }
  return { end, tokens: next === "wide" ? extra + 0.1 : extra };
}

/** A run of punctuation. A single sign before a word belongs to that word. */
function punctuation(text: string, start: number): Piece {
  let end = start;
  let same = true;
  while (end < text.length && kindOf(text.charCodeAt(end)) === "punctuation") {
    same = same && text.charCodeAt(end) === text.charCodeAt(start);
    end += 1;
  }
  const length = end - start;
  const next = end < text.length ? kindOf(text.charCodeAt(end)) : "space";
  if (length === 1 && (next === "lower" || next === "upper")) return letters(text, end, "sign");
  return { end, tokens: same && length > 4 ? 1 + length / 16 : signsPrice(length) };
}

function signsPrice(length: number): number {
  if (length <= 2) return 1;
  return length === 3 ? 1.04 : 1.05 + (length - 3) * 0.58;
}

/** Everything outside ASCII, at a price per character that depends on the script. */
function wide(text: string, start: number): Piece {
  const point = text.codePointAt(start) ?? 0;
  return { end: start + (point > 0xffff ? 2 : 1), tokens: pricePerCharacter(point) };
}

/** The last code point of each range and its price, in ascending order. Measured on sentences and rounded up. */
const scripts: readonly (readonly [last: number, price: number])[] = [
  [0xbf, 1], // signs
  [0x24f, 1.1], // Latin with accents
  [0x36f, 0.7],
  [0x3ff, 0.36], // Greek
  [0x52f, 0.27], // Cyrillic
  [0x58f, 0.6],
  [0x5ff, 0.5], // Hebrew
  [0x77f, 0.36], // Arabic
  [0x8ff, 1],
  [0xdff, 0.36], // scripts of India
  [0xeff, 0.45], // Thai, Lao
  [0x10ff, 0.7], // Georgian, Burmese, Tibetan
  [0x11ff, 1],
  [0x1dff, 2], // Ethiopic, Khmer, Mongolian and others
  [0x1eff, 0.7], // Latin of Vietnam
  [0x206f, 1], // dashes, quotes, ellipsis
  [0x2bff, 1.3], // arrows, mathematics, symbols
  [0x2fff, 2],
  [0x30ff, 0.75], // kana
  [0x9fff, 0.9], // Han; the simplified forms cost 0.7, the others 1
  [0xabff, 2],
  [0xd7af, 0.68], // Hangul
  [0xffff, 1.1], // full-width signs, variation selectors, private use
  [0x1ffff, 2], // emoji
  [0x3ffff, 2.5], // rare Han
];

function priceIn(ranges: typeof scripts, point: number): number {
  return ranges.find(([last]) => point <= last)?.[1] ?? 4;
}

/** By the first twelve bits of a character: no script ends within sixteen of them. */
const prices = Float64Array.from({ length: 4_096 }, (_, block) => priceIn(scripts, block << 4));
const beyond = scripts.filter(([last]) => last > 0xffff);

function pricePerCharacter(point: number): number {
  return point > 0xffff ? priceIn(beyond, point) : (prices[point >> 4] as number);
}
