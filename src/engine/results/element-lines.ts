import { backslash, lineFeed, lowerN, openBrace, openBracket, quote } from "../../wire/json/characters.ts";
import { skipSpace } from "../../wire/json/json-scan.ts";

/** How text is written: as it is, or between the quotes of a JSON string. */
export type Spelling = "plain" | "escaped";

/** A line of JSON is ended behind an element once it has so many characters: short ones would cost more line ends. */
const longLine = 160;
/** A text whose lines are longer than this on the average cannot be cut or searched by lines. */
const unreadableLine = 1_000;

/** How much of a text is looked at: reading all of a large one would take tens of milliseconds. */
const judgedBytes = 1_048_576;

/** Whether it is JSON that was written without line ends, as far as can be told from its first mebibyte. */
export function isDense(bytes: Buffer, spelling: Spelling): boolean {
  const end = Math.min(bytes.length, judgedBytes);
  const first = bytes[firstSign(bytes, end, spelling)];
  if (first !== openBrace && first !== openBracket) return false;
  const most = end / unreadableLine;
  let lines = 1;
  // Byte by byte: each call of Buffer's search costs more than the few signs that lie between two backslashes.
  for (let at = 0; at < end && lines < most; at += 1) {
    const byte = bytes[at];
    if (spelling === "plain") lines += byte === lineFeed ? 1 : 0;
    else if (byte === backslash) lines += bytes[(at += 1)] === lowerN ? 1 : 0;
  }
  return lines < most;
}

/** The first byte before `end` that is no white space, which may be written as an escape. */
function firstSign(bytes: Buffer, end: number, spelling: Spelling): number {
  let at = skipSpace(bytes, 0, end);
  while (spelling === "escaped" && bytes[at] === backslash && "nrt".includes(String.fromCharCode(bytes[at + 1] ?? 0)))
    at = skipSpace(bytes, at + 2, end);
  return at;
}

/**
 * Some of a dense text with a line for each element, so that it can be read and searched by lines. Only white space
 * between values is added. `isInside` says whether it begins within a string.
 */
export function toElementLines(text: string, isInside: boolean): string {
  const lines: string[] = [];
  let from = 0;
  let at = isInside ? stringEnd(text, 0) : 0;
  while (at < text.length) {
    const sign = text.charCodeAt(at);
    if (sign === quote) {
      at = stringEnd(text, at + 1);
      continue;
    }
    at += 1;
    if (sign !== commaSign) continue;
    if (at - from < longLine && !opensContainer(text, at)) continue;
    lines.push(text.slice(from, at));
    from = at;
  }
  lines.push(text.slice(from));
  return lines.join("\n");
}

const commaSign = 0x2c;

/** Behind the string whose inside begins at `start`; the end of the text when it does not end. */
function stringEnd(text: string, start: number): number {
  let at = start;
  for (;;) {
    const found = text.indexOf('"', at);
    if (found === -1) return text.length;
    let escapes = 0;
    while (found - escapes > at && text.charCodeAt(found - escapes - 1) === backslash) escapes += 1;
    at = found + 1;
    if (escapes % 2 === 0) return at;
  }
}

function opensContainer(text: string, at: number): boolean {
  const next = text.charAt(text.charAt(at) === " " ? at + 1 : at);
  return next === "{" || next === "[";
}
