import { randomBytes } from "node:crypto";

/**
 * A number that a JavaScript number cannot hold (2^53+1, -0, 1e400), with its original text. Converted to a number it
 * is the nearest one.
 */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toJSON(): string | number {
    return isWritingExactly ? `${tag}${this.source}` : Number(this.source);
  }
}

/** Random, so that no text from a server can be mistaken for a number. */
const tag = `number-${randomBytes(9).toString("base64url")}:`;
const tagged = new RegExp(`"${tag}([^"]*)"`, "g");
/** Set only while {@link stringifyExact} runs, because `JSON.stringify` cannot tell `toJSON` who calls it. */
let isWritingExactly = false;

/** Matches text that may contain such a number: sixteen digits, a minus before a zero, or a large exponent. */
const suspicious = /[\d.]{16}|-0|\d[eE][+-]?\d{2}/;
const numbers = /-?\d[\d.eE+-]*/g;

/** Like JSON.parse, but numbers that would lose precision become ExactNumbers. */
export function parseExact(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  const marked = suspicious.test(text) ? markAltered(text) : text;
  if (marked === text) return parsed;
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(tag) ? new ExactNumber(value.slice(tag.length)) : value,
  );
}

/**
 * Replaces each number that would lose precision by a tagged string. Goes from quote to quote, because a regular
 * expression that matches strings fails on long ones.
 */
function markAltered(text: string): string {
  let marked = "";
  for (let at = 0; at < text.length;) {
    const start = text.indexOf('"', at);
    const between = text.slice(at, start === -1 ? text.length : start);
    marked += suspicious.test(between) ? between.replace(numbers, markNumber) : between;
    if (start === -1) break;
    at = endOfString(text, start);
    marked += text.slice(start, at);
  }
  return marked;
}

function markNumber(token: string): string {
  return isAltered(token) ? `"${tag}${token}"` : token;
}

/** The index after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Like JSON.stringify, but ExactNumbers are written with their original text. */
export function stringifyExact(value: unknown): string {
  let text: string;
  isWritingExactly = true;
  try {
    text = JSON.stringify(value);
  } finally {
    isWritingExactly = false;
  }
  return text?.includes(tag) ? text.replace(tagged, "$1") : text;
}

function isAltered(token: string): boolean {
  const value = Number(token);
  if (String(value) === token || Number.isNaN(value)) return false;
  const mantissa = token
    .replace(/[eE].*$/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "");
  return !Number.isFinite(value) || Object.is(value, -0) || mantissa.length > 15 || (value === 0 && mantissa !== "");
}
