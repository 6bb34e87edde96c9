/** Longest word that is kept; a longer one is a hash, a key or noise. */
export const wordLengthLimit = 48;

/** Scripts that are written without spaces between words. */
const unspacedRun =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}ー]+/gu;
const anyWord = /[\p{L}\p{N}]+/gu;
/** The letter before a hump: a space is put behind it. */
const beforeHump = /[\p{Ll}\p{N}](?=\p{Lu})|\p{Lu}(?=\p{Lu}\p{Ll})/gu;

/**
 * The words of a text, in order: NFKC, camelCase and acronyms split (`HTTPServer` is http, server), snake and kebab
 * case split, lower case, without diacritics. Scripts that are written without spaces become character bigrams. Never
 * throws; linear.
 */
export function toWords(text: string): string[] {
  const words: string[] = [];
  const way = eachAsciiWord(text, (_text, start, end) => pushWord(text, start, end, words));
  return way === "other" ? unicodeWords(text) : words;
}

/** A letter and what belongs to it. */
const wholeWord = /\p{L}[\p{L}\p{M}\p{N}]*/gu;
const invisible = /\p{Default_Ignorable_Code_Point}+/gu;

/**
 * The words of a text as a reader knows them: split like those of {@link toWords}, but with their accents, not cut up
 * where a script has no spaces, and without invisible characters. Those that begin with a digit are left out. Never
 * throws; linear.
 */
export function toWholeWords(text: string): string[] {
  const words: string[] = [];
  const way = eachAsciiWord(text, (_text, start, end) => {
    if (text.charCodeAt(start) > 57) words.push(text.slice(start, end).toLowerCase());
  });
  if (way !== "other") return words;
  const plain = text.normalize("NFKC").replace(invisible, "").replace(beforeHump, "$& ").toLowerCase();
  return plain.match(wholeWord) ?? [];
}

/** Names that are written as two words in one: GitHub, MongoDB, PowerPoint. */
const brand = /\b[A-Z][a-z]+(?:[A-Z][a-z]*){1,3}\b/g;

/** Like {@link toWords}, for prose: a brand is found by its parts and, after all other words, as a whole. */
export function toProseWords(text: string): string[] {
  const words = toWords(text);
  for (const name of proseBrands(text)) pushWord(name, 0, name.length, words);
  return words;
}

/** The brands in a text, in order. There are none without a capital behind a small letter. */
export function proseBrands(text: string): readonly string[] {
  return text.match(brand) ?? [];
}

const kinds = Object.freeze({ other: 0, lower: 1, upper: 2 });

/**
 * Calls `take` for every word of an ASCII text. Nearly all texts are that, and a scan is five times as fast as the
 * expressions. `humps`: some capital follows a small letter. `other`: it is not ASCII, and what was taken is void.
 */
export function eachAsciiWord(
  text: string,
  take: (text: string, start: number, end: number) => void,
): "words" | "humps" | "other" {
  let start = 0;
  let before: number = kinds.other;
  let hasHump = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127 && !isSeparator(code)) return "other";
    const kind = kindOf(code);
    if (kind === kinds.other || before === kinds.other || (kind === kinds.upper && before === kinds.lower)) {
      if (kind === kinds.upper && before === kinds.lower) hasHump = true;
      if (at > start) take(text, start, at);
      start = kind === kinds.other ? at + 1 : at;
    } else if (kind === kinds.lower && before === kinds.upper && at - start > 1 && code > 57) {
      take(text, start, at - 1);
      start = at - 1;
    }
    before = kind;
  }
  if (text.length > start) take(text, start, text.length);
  return hasHump ? "humps" : "words";
}

/**
 * Characters beyond ASCII that stand between words, whatever is done to them: typographic dashes, quotes and dots, the
 * arrow, and the space that does not break. English texts have them, and hardly anything else.
 */
export function isSeparator(code: number): boolean {
  return (code >= 0x2010 && code <= 0x2027) || code === 0x2192 || code === 0xa0;
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return kinds.lower;
  if (code >= 65 && code <= 90) return kinds.upper;
  return code >= 48 && code <= 57 ? kinds.lower : kinds.other;
}

function pushWord(text: string, start: number, end: number, words: string[]): void {
  if (end > start) words.push(text.slice(start, Math.min(end, start + wordLengthLimit)).toLowerCase());
}

function unicodeWords(text: string): string[] {
  const plain = text
    .normalize("NFKC")
    .replace(beforeHump, "$& ")
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC");
  const words: string[] = [];
  for (const word of plain.match(anyWord) ?? []) {
    if (hasUnspaced(word)) splitScripts(word, words);
    else pushWord(word, 0, word.length, words);
  }
  return words;
}

/** All scripts of `unspacedRun` come behind those of Europe, India and the Near East. */
const firstUnspaced = 0xe00;

function hasUnspaced(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) >= firstUnspaced) return true;
  return false;
}

function splitScripts(word: string, into: string[]): void {
  let end = 0;
  for (const run of word.matchAll(unspacedRun)) {
    pushWord(word, end, run.index, into);
    pushBigrams(run[0], into);
    end = run.index + run[0].length;
  }
  pushWord(word, end, word.length, into);
}

function pushBigrams(run: string, into: string[]): void {
  const characters = Array.from(run);
  if (characters.length === 1) into.push(run);
  for (let at = 0; at + 1 < characters.length; at += 1) into.push(`${characters[at]}${characters[at + 1]}`);
}

/** Neighbours written as one word: screen, shot: screenshot. */
export function joinNeighbours(words: readonly string[]): string[] {
  return words.slice(1).map((word, at) => `${words[at]}${word}`);
}
