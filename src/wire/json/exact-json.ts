import { randomBytes } from "node:crypto";

/**
 * A number that JavaScript's cannot hold (2^53+1, -0, 1e400), as its sender wrote it. As a value it is the nearest
 * there is.
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

/** Nobody outside can know it, so no text of a server can be taken for a number. */
const tag = `number-${randomBytes(9).toString("base64url")}:`;
const tagged = new RegExp(`"${tag}([^"]*)"`, "g");
/** `JSON.stringify` tells `toJSON` nothing about who asks. */
let isWritingExactly = false;

/** What may be such a number: sixteen digits, a minus before a zero, a large exponent. */
const suspicious = /[\d.]{16}|-0|\d[eE][+-]?\d{2}/;
const numbers = /-?\d[\d.eE+-]*/g;

/** Like JSON.parse, but numbers that would be altered become ExactNumbers. */
export function parseExact(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  const marked = suspicious.test(text) ? markAltered(text) : text;
  if (marked === text) return parsed;
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(tag) ? new ExactNumber(value.slice(tag.length)) : value,
  );
}

/**
 * Valid JSON, with each number that would be altered as a string with the tag. By steps from quote to quote: a
 * regular expression for strings fails on long ones.
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

/** After the closing quote. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Like JSON.stringify, but ExactNumbers stand there as they were written. */
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
