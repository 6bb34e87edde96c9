import { backslash, openBrace, openBracket, quote, space } from "../../wire/json/characters.ts";
import { escapeLength, hexAt, shortEscape } from "./same-text.ts";
import type { Place, SaidText, Segment } from "./said-text.ts";
import { kindOfByte, kinds, priceOfLead, startState, steps } from "./token-steps.ts";

/** What a text costs, and where it is cut into parts. */
export interface Parts {
  /** An estimate for each segment. */
  readonly tokens: readonly number[];
  /** Where each part begins, the first at 0. */
  readonly starts: readonly Place[];
}

/** How much is processed before others may have their turn: well below a millisecond. */
const sliceBytes = 32_768;
/** A part is no longer, however little its bytes cost: a megabyte of spaces has few tokens, and is sent as it is. */
const partBytes = 524_288;

/**
 * Goes once through a text, of which the first part may have `firstTokens` and each other `maxTokens`. A part ends
 * behind a line where its second half has such a place (in dense JSON behind an element), otherwise behind a word,
 * otherwise between two characters, and is never empty or much longer than 512 KiB. Linear in the bytes.
 */
export function* findParts(
  { segments, bytes }: SaidText,
  firstTokens: number,
  maxTokens: number,
): Generator<void, Parts> {
  const walk = new Walk(bytes, firstTokens, maxTokens);
  const tokens: number[] = [];
  let untilYield = sliceBytes;
  for (const segment of segments) {
    const before = walk.limit - walk.left;
    enter(walk, segment);
    for (let at = segment.start; at < segment.end;) {
      const reached = walkOn(walk, at, Math.min(segment.end, at + untilYield));
      untilYield -= reached - at;
      at = reached;
      if (at < segment.end && at - walk.from > partBytes) walk.left = cut(walk, at, walk.left);
      if (untilYield > 0) continue;
      yield;
      untilYield = sliceBytes;
    }
    leave(walk, segment);
    tokens.push((walk.limit - walk.left - before) / thousand);
  }
  return { tokens, starts: walk.starts };
}

const thousand = 1_000;
/** A part that is a little short is better than one over its budget: prices are those of the average text. */
const caution = 1.1;

/** How far a text has been processed. Numbers of tokens are in thousandths. */
class Walk {
  readonly bytes: Buffer;
  readonly maxTokens: number;
  readonly starts: Place[] = [{ at: 0, isInString: false }];
  /** What of the part is left, and what all parts together may have at its end. */
  left: number;
  limit: number;
  /** Where the part begins. */
  from = 0;
  state = startState;
  /** Letters in a row. */
  run = 0;
  /** In the segment that it is in: the sign that begins an escape there, if any, and its strings where it is dense. */
  escape = -1;
  json: JsonStrings | undefined = undefined;
  /** The last place behind a word, and behind a line or an element, and what was spent up to it. */
  wordAt = 0;
  wordSpent = 0;
  isWordInString = false;
  lineAt = 0;
  lineSpent = 0;
  /** Of a character that is not one plain byte. */
  length = 1;
  price = 0;

  constructor(bytes: Buffer, firstTokens: number, maxTokens: number) {
    this.bytes = bytes;
    this.maxTokens = (maxTokens * thousand) / caution;
    this.limit = (firstTokens * thousand) / caution;
    this.left = this.limit;
  }
}

function enter(walk: Walk, { spelling, isDense }: Segment): void {
  walk.escape = spelling === "escaped" ? backslash : -1;
  walk.json = isDense ? new JsonStrings() : undefined;
  walk.state = startState;
  walk.run = 0;
}

/** Behind a segment there is a line end. */
function leave(walk: Walk, { end }: Segment): void {
  walk.left -= thousand;
  walk.lineAt = end;
  walk.lineSpent = walk.limit - walk.left;
}

/**
 * From a character's beginning to that of the first one at `stop` or behind. The hottest loop of all that is done with
 * a large result: what changes with each byte is in variables, and the numbers of `token-steps.ts` are written out,
 * because those of a module are read again for each byte. That halves its time.
 */
function walkOn(walk: Walk, begin: number, stop: number): number {
  const upper = 1;
  const digit = 2;
  const wide = 4;
  const gap = 6;
  const { bytes, escape, json } = walk;
  let { state, run, left, wordAt } = walk;
  let wordLeft = walk.limit - walk.wordSpent;
  let at = begin;
  let last = -1;
  while (at < stop) {
    let code = bytes[at] as number;
    const isPlain = code < 0x80 && code !== escape;
    if (!isPlain) code = readSpecial(walk, at, stop);
    const kind = isPlain || code < 0x80 ? (kindOfByte[code] as number) : wide;
    const step = steps[state + kind] as number;
    let price = step & 0xfff;
    state = step >> 12;
    if (kind <= upper) {
      run += 1;
      if (run > 13) price += 300;
    } else {
      if (kind !== digit) run = 0;
      if (kind === wide) price = walk.price;
      else if (code === last && price > 63 && state === 128) price = 63;
    }
    if (left < price && at > walk.from) {
      if (json === undefined) noteWord(walk, wordAt, wordLeft);
      left = cut(walk, at, left);
      wordLeft = walk.limit - walk.wordSpent;
    }
    left -= price;
    last = code;
    at += isPlain ? 1 : walk.length;
    if (json !== undefined) json.follow(code);
    if (kind < gap) continue;
    if (kind === gap && json === undefined) {
      wordAt = at;
      wordLeft = left;
    } else noteEnd(walk, kind, at, left);
  }
  if (json === undefined) noteWord(walk, wordAt, wordLeft);
  walk.state = state;
  walk.run = run;
  walk.left = left;
  return at;
}

/** Reads a character that is beyond ASCII or written as an escape, and returns its code. */
function readSpecial(walk: Walk, at: number, stop: number): number {
  const { bytes } = walk;
  const first = bytes[at] as number;
  if (first !== backslash) {
    let end = at + 1;
    while (end < stop && ((bytes[end] as number) & 0xc0) === 0x80) end += 1;
    walk.length = end - at;
    walk.price = priceOfLead[first] as number;
    return first;
  }
  walk.length = escapeLength(bytes, at);
  const code = walk.length === 2 ? shortEscape(bytes[at + 1] as number) : hexAt(bytes, at + 2);
  if (code >= 0x80) walk.price = priceOfCode(code);
  return code;
}

/** A part may begin behind a space, a line end or a comma. */
function noteEnd(walk: Walk, kind: number, at: number, left: number): void {
  const { json } = walk;
  const isInString = json !== undefined && json.isIn;
  const isElement = json !== undefined && kind === kinds.comma && !isInString;
  if ((kind === kinds.lineEnd && !isInString) || (isElement && opensContainer(walk.bytes, at))) {
    walk.lineAt = at;
    walk.lineSpent = walk.limit - left;
  } else if (kind === kinds.space || isElement) {
    noteWord(walk, at, left);
    walk.isWordInString = isInString;
  }
}

function noteWord(walk: Walk, at: number, left: number): void {
  walk.wordAt = at;
  walk.wordSpent = walk.limit - left;
  walk.isWordInString = false;
}

/** Ends a part before `at` at the latest. Returns the size left for the next one there. */
function cut(walk: Walk, at: number, left: number): number {
  const spent = walk.limit - left;
  const least = walk.from + ((at - walk.from) >> 1);
  if (walk.lineAt > least) beginPart(walk, walk.lineAt, walk.lineSpent, false);
  else if (walk.wordAt > least) beginPart(walk, walk.wordAt, walk.wordSpent, walk.isWordInString);
  else beginPart(walk, at, spent, walk.json?.isIn === true);
  return walk.limit - spent;
}

function beginPart(walk: Walk, at: number, spent: number, isInString: boolean): void {
  walk.starts.push({ at, isInString });
  walk.from = at;
  walk.limit = spent + walk.maxTokens;
}

/** Follows the characters of a JSON text, and knows which are within its strings. */
class JsonStrings {
  isIn = false;
  #isAfterBackslash = false;

  follow(code: number): void {
    if (this.#isAfterBackslash) this.#isAfterBackslash = false;
    else if (code === backslash) this.#isAfterBackslash = this.isIn;
    else if (code === quote) this.isIn = !this.isIn;
  }
}

function opensContainer(bytes: Buffer, at: number): boolean {
  const next = bytes[at] === space ? bytes[at + 1] : bytes[at];
  return next === openBrace || next === openBracket;
}

/** As for the same character in UTF-8. Of two escapes that are one character, the code of the first. */
function priceOfCode(code: number): number {
  if (code >= 0xd800 && code < 0xe000) return priceOfLead[code < 0xd8c0 ? 0xf0 : 0xf1] as number;
  return priceOfLead[code < 0x800 ? 0xc0 | (code >> 6) : 0xe0 | (code >> 12)] as number;
}
