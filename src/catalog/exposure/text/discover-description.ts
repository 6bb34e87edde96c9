import { estimateTokens } from "./token-estimate.ts";
import { visibleText } from "./visible-text.ts";

export interface ShortText {
  readonly text: string;
  /** True when hidden characters were taken out. */
  readonly flagged: boolean;
}

/** Characters that are examined. What follows them is never among the first sentences. */
const readLimit = 4000;

/**
 * What a tool says of itself, in at most `maxTokens`: the first sentence, then sentences with rules for the caller,
 * then the next ones as far as they fit comfortably. Ends with "…" when something was left out. Markdown and tags are
 * removed.
 */
export function shortDescription(description: string, maxTokens: number): ShortText {
  const visible = visibleText(description.slice(0, readLimit));
  const sentences = [...new Set(sentencesOf(plainText(visible.text)))];
  const [first, ...others] = sentences;
  if (first === undefined) return { text: "", flagged: visible.flagged };
  if (estimateTokens(first) > maxTokens) return { text: cutAtWord(first, maxTokens), flagged: visible.flagged };
  const kept = keptSentences(first, others, maxTokens);
  const complete = kept.size === sentences.length && description.length <= readLimit;
  const text = sentences.filter((sentence) => kept.has(sentence)).join(" ");
  return { text: complete ? text : `${text.replace(/\.$/, "")} …`, flagged: visible.flagged };
}

/** The description without markup, on one line; complete up to 20,000 characters. */
export function plainDescription(description: string): ShortText {
  const visible = visibleText(description.slice(0, wholeLimit));
  const text = plainText(visible.text).replace(/\s+/g, " ").trim();
  return { text: description.length > wholeLimit ? `${text}…` : text, flagged: visible.flagged };
}

const wholeLimit = 20_000;

function keptSentences(first: string, others: readonly string[], maxTokens: number): Set<string> {
  const kept = new Set([first]);
  let left = maxTokens - estimateTokens(first) - 1;
  const take = (sentence: string, limit: number): boolean => {
    const cost = estimateTokens(sentence);
    if (cost > Math.min(left, limit)) return false;
    kept.add(sentence);
    left -= cost;
    return true;
  };
  for (const sentence of others.slice(0, 12)) if (ruling.test(sentence)) take(sentence, longestRule);
  // A short first sentence ("Creates a comment.") leaves room for the second, which often says of what.
  const second = others[0];
  if (second !== undefined && !kept.has(second)) take(second, Math.max(0, comfortable - estimateTokens(first)));
  return kept;
}

const longestRule = 24;
const comfortable = 15;

/** Words of sentences that tell how to call the tool, rather than what it does inside. */
const ruling =
  /\b(?:must|at least one|exactly one|not both|mutually exclusive|either|deprecated|irreversibl[ey]|cannot be undone|permanently|do not use|instead|format|before (?:using|calling)|first call)\b/i;

/** Text up to `maxTokens`, cut between words, with "…". */
export function cutAtWord(text: string, maxTokens: number): string {
  if (estimateTokens(text) <= maxTokens) return text;
  // Text without spaces (Chinese, base64) is cut between characters.
  const ends = Array.from(
    text.slice(0, readLimit).matchAll(/\s*[^\s\u3000-\u9fff\uac00-\ud7af]{1,24}|\s*./gsu),
    (word) => word.index + word[0].length,
  );
  let fits = 0;
  for (let low = 0, high = ends.length - 1; low <= high;) {
    const middle = (low + high) >> 1;
    const end = ends[middle] ?? 0;
    if (estimateTokens(`${text.slice(0, end)}…`) <= maxTokens) {
      fits = end;
      low = middle + 1;
    } else high = middle - 1;
  }
  return `${text.slice(0, fits).replace(dangling, "")}…`;
}

/** Endings that a cut text should not have. */
const dangling = /(?:[\s,;:.(\u3001\u3002]|\((?:e\.g|i\.e|for example|such as))+$/u;

function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  for (const paragraph of text.split(paragraphs)) {
    const flat = paragraph.replace(listMark, "").replace(/\s+/g, " ").trim();
    for (const sentence of splitSentences(flat)) if (/\p{L}/u.test(sentence)) sentences.push(sentence);
  }
  // "Parameters:" and a leading "Purpose" are titles of what follows and say nothing without it.
  const telling = sentences.filter((sentence, at) => !sentence.endsWith(":") && !(at === 0 && title.test(sentence)));
  return telling.length > 0 ? telling : sentences;
}

/** Breaks between paragraphs, before the items of a list, and around a line that is a title. */
const paragraphs = /\n\s*\n|\n(?=[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t])|\n(?=[^\n]{1,60}:[ \t]*\n)|(?<=:)[ \t]*\n/;
/**
 * A title: one or two words without punctuation at the end. Anything longer counts as a description, however short.
 */
const title = /^\P{L}{0,4}[\p{L}\p{M}]+(?: [\p{L}\p{M}]+)?$/u;
const listMark = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/;

/** Cuts after `.`, `!`, `?` before a space, and after their CJK counterparts; not after `e.g.` and the like. */
function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const mark of text.matchAll(sentenceEnd)) {
    const end = mark.index + 1;
    if (abbreviation.test(text.slice(Math.max(0, end - 8), end))) continue;
    sentences.push(text.slice(from, end).trim());
    from = end;
  }
  sentences.push(text.slice(from).trim());
  return sentences.filter((sentence) => sentence !== "");
}

/** The listed words begin sentences in descriptions whose lines were joined without a space. */
const sentenceEnd = /[.!?](?=["')\]]?\s|(?:This|The|It|Use|You|If|Returns) )|[。！？]/g;

const abbreviation = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|incl|max|min|no|\p{L})\.$/iu;

function plainText(text: string): string {
  return withoutTags(text)
    .replace(/\r\n?/g, "\n")
    .replace(/^[ \t]*(?:```|~~~).*$/gm, "")
    .replace(/^[ \t]*[-=*_]{3,}[ \t]*$/gm, "")
    .replace(/^[ \t]*#{1,6}[ \t]+(.*)$/gm, "$1\n")
    .replace(/\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)/g, "$1")
    .replace(/\*\*|__(?=\s|$)|(?<=^|\s)__/g, "")
    .replace(/\\([`*_[\]<>#])/g, "$1");
}

/** Removes tags that are closed somewhere (`<usecase>…</usecase>`). A lone `<owner>` is a placeholder and stays. */
function withoutTags(text: string): string {
  const closed = new Set<string>();
  for (const tag of text.matchAll(/<\/([A-Za-z][\w-]{0,40})>/g)) if (tag[1] !== undefined) closed.add(tag[1]);
  if (closed.size === 0) return text;
  return text.replace(/<\/?([A-Za-z][\w-]{0,40})>/g, (tag, name: string) => (closed.has(name) ? "\n" : tag));
}
