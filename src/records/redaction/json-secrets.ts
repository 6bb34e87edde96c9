import type { Span } from "../../config/words/spans.ts";

/** A part of a JSON text that must not be seen. */
export interface HiddenPart extends Span {
  /** Whether it is a whole value, so that its replacement needs quotes. */
  readonly isValue: boolean;
}

export interface JsonSecrets {
  /** Parts that must not be seen wherever they stand; in order, and none overlaps another. */
  readonly hidden: readonly Span[];
  /** Whether the value of a member of this name is a secret. */
  readonly isSecret: (name: string) => boolean;
}

/**
 * Parts of a JSON text that must not be seen, in order: parts that are hidden anyway (where that is a part of a number,
 * the whole number, because one with a hole is no JSON), and values of secret members, whatever they are. Null stays:
 * it says that there is no secret. One pass that does not recurse; a text that is cut, or wrong from some place on, is
 * understood as far as it goes.
 */
export function findInJson(text: string, { hidden, isSecret }: JsonSecrets): readonly HiddenPart[] {
  const values: HiddenPart[] = [];
  let depth = 0;
  let isNextSecret = false;
  /** Where the value of a secret member begins that is being passed, and the depth of that member. */
  let secretStart = -1;
  let secretDepth = 0;
  let next = 0;
  let at = 0;

  const begin = (start: number): void => {
    if (isNextSecret && secretStart === -1) {
      secretStart = start;
      secretDepth = depth;
    }
    isNextSecret = false;
  };
  const finish = (end: number): void => {
    if (secretStart === -1 || depth > secretDepth) return;
    values.push({ start: secretStart, end, isValue: true });
    secretStart = -1;
  };
  const passPlain = (start: number, end: number): void => {
    while ((hidden[next]?.end ?? Infinity) <= start) next += 1;
    if (secretStart === -1 && (hidden[next]?.start ?? Infinity) < end) values.push({ start, end, isValue: true });
  };

  while (at < text.length) {
    const start = at;
    const character = text.charAt(start);
    if (character === '"') {
      at = endOfString(text, start + 1);
      const after = skipSpace(text, at);
      if (text.charAt(after) === ":") {
        isNextSecret = secretStart === -1 && isSecret(nameOf(text.slice(start + 1, at - 1)));
        at = after + 1;
        continue;
      }
      begin(start);
      finish(at);
    } else if (character === "{" || character === "[") {
      begin(start);
      depth += 1;
      at += 1;
    } else if (character === "}" || character === "]") {
      isNextSecret = false;
      depth -= 1;
      at += 1;
      finish(at);
    } else if (isBetween(character)) at += 1;
    else {
      at = endOfPlain(text, start);
      if (text.slice(start, at) === "null") isNextSecret = false;
      begin(start);
      passPlain(start, at);
      finish(at);
    }
  }
  depth = secretDepth;
  finish(text.length);
  return together(values, hidden);
}

/** After the quote that ends it, or the end of a text that is cut. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (at - escapes > start && text.charAt(at - escapes - 1) === "\\") escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charAt(at))) at += 1;
  return at;
}

/** The end of a number or a word. */
function endOfPlain(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s"{}[\]:,]/.test(text.charAt(at))) at += 1;
  return at;
}

function isSpace(character: string): boolean {
  return character === " " || character === "\n" || character === "\r" || character === "\t";
}

function isBetween(character: string): boolean {
  return character === "," || character === ":" || /\s/.test(character);
}

function nameOf(written: string): string {
  if (!written.includes("\\")) return written;
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    return written;
  }
}

/** Values as a whole, and the hidden parts that are not in one of them. */
function together(values: readonly HiddenPart[], hidden: readonly Span[]): readonly HiddenPart[] {
  const parts: HiddenPart[] = [];
  let next = 0;
  for (const { start, end } of hidden) {
    let from = start;
    for (let value = values[next]; value !== undefined && value.start < end; value = values[next]) {
      if (value.start > from) parts.push({ start: from, end: value.start, isValue: false });
      parts.push(value);
      from = Math.max(from, value.end);
      next += 1;
    }
    const before = Math.max(from, parts.at(-1)?.end ?? 0);
    if (before < end) parts.push({ start: before, end, isValue: false });
  }
  parts.push(...values.slice(next));
  return parts;
}
