/** Longest word that is kept; what is longer is a hash, a key or noise. */
const wordLengthLimit = 48;

/** Scripts that are written without spaces between words. */
const unspacedRun =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}ー]+/gu;
const anyWord = /[\p{L}\p{N}]+/gu;
const hump = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;

/**
 * The words of a text, in order: NFKC, camelCase and acronyms split (`HTTPServer` is http, server), snake and kebab
 * case split, lower case, without diacritics. Scripts that are written without spaces become character bigrams. Never
 * throws; linear.
 */
export function toWords(text: string): string[] {
  const words: string[] = [];
  return pushAsciiWords(text, words) ? words : unicodeWords(text);
}

/** Names that are written as two words in one: GitHub, MongoDB, PowerPoint. */
const brand = /\b[A-Z][a-z]+(?:[A-Z][a-z]*){1,3}\b/g;

/** Like {@link toWords}, for prose: a brand is found by its parts and, after all other words, as a whole. */
export function toProseWords(text: string): string[] {
  const words = toWords(text);
  for (const [name] of text.matchAll(brand)) pushWord(name, 0, name.length, words);
  return words;
}

const kinds = Object.freeze({ other: 0, lower: 1, upper: 2 });

/** Nearly all texts are ASCII, and a scan is five times as fast as the expressions. False when the text is not. */
function pushAsciiWords(text: string, words: string[]): boolean {
  let start = 0;
  let before: number = kinds.other;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) return false;
    const kind = kindOf(code);
    if (kind === kinds.other || before === kinds.other || (kind === kinds.upper && before === kinds.lower)) {
      pushWord(text, start, at, words);
      start = kind === kinds.other ? at + 1 : at;
    } else if (kind === kinds.lower && before === kinds.upper && at - start > 1 && code > 57) {
      pushWord(text, start, at - 1, words);
      start = at - 1;
    }
    before = kind;
  }
  pushWord(text, start, text.length, words);
  return true;
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
    .replace(hump, " ")
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC");
  const words: string[] = [];
  for (const [word] of plain.matchAll(anyWord)) splitScripts(word, words);
  return words;
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
