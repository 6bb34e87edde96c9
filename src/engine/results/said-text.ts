import { isDense, toElementLines, type Spelling } from "./element-lines.ts";
import type { SpelledText } from "./same-text.ts";

/**
 * What a result says in text, as the bytes that its server wrote: decoding all of a megabyte takes longer than passing
 * it on, so that only what somebody reads is decoded. Positions in it are those of the bytes.
 */
export interface SaidText {
  readonly bytes: Buffer;
  /** One after the other, without gaps; none is empty. They are read with a line end between them. */
  readonly segments: readonly Segment[];
}

/** The text of one content block, or the structured content. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly spelling: Spelling;
  /** JSON without line ends: it is read with a line for each element. */
  readonly isDense: boolean;
}

/** A place at which the text may be cut. */
export interface Place {
  readonly at: number;
  /** Whether it is within a string of dense JSON. */
  readonly isInString: boolean;
}

/** The text of these spans of a result. A single one is not copied. */
export function toSaidText(result: Buffer, spans: readonly SpelledText[]): SaidText {
  const segments: Segment[] = [];
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, spelling } of spans) {
    if (start === end) continue;
    const piece = result.subarray(start, end);
    pieces.push(piece);
    segments.push({ start: at, end: at + piece.length, spelling, isDense: isDense(piece, spelling) });
    at += piece.length;
  }
  const [only] = pieces;
  return { bytes: pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces), segments };
}

/** All of a text, without line ends of ours between the elements of JSON. */
export function decodeText({ bytes, segments }: SaidText): string {
  return segments.map(({ start, end, spelling }) => decode(bytes.subarray(start, end), spelling)).join("\n");
}

/** The text from one place to a position behind it, at which it may be cut as well. */
export function readText({ bytes, segments }: SaidText, from: Place, to: number): string {
  const pieces: string[] = [];
  for (let index = firstBehind(segments, from.at); index < segments.length; index += 1) {
    const { start, end, spelling, isDense } = segments[index] as Segment;
    if (start >= to) break;
    const piece = decode(bytes.subarray(Math.max(from.at, start), Math.min(to, end)), spelling);
    pieces.push(isDense ? toElementLines(piece, start < from.at && from.isInString) : piece);
    if (end <= to && index + 1 < segments.length) pieces.push("\n");
  }
  return pieces.join("");
}

/** The first segment that ends behind a position: there may be ten thousand. */
function firstBehind(segments: readonly Segment[], position: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((segments[middle] as Segment).end > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

function decode(bytes: Buffer, spelling: Spelling): string {
  const text = bytes.toString("utf8");
  return spelling === "plain" ? text : (JSON.parse(`"${text}"`) as string);
}
