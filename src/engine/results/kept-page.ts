import type { KeptPage } from "../../catalog/exposure/kept-uri.ts";
import { endWithin, estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { readText, type Place, type SaidText } from "./said-text.ts";

/** What a reader gets of a kept text, and what to ask for next; undefined at the end. */
export interface PageText {
  readonly text: string;
  readonly note: string;
  readonly next: KeptPage | undefined;
}

/** A text that is kept to be read in pages. */
export interface KeptText {
  readonly said: SaidText;
  /** Where its parts begin, the first at 0. */
  readonly starts: readonly Place[];
  /** What a page may cost, as an estimate. */
  readonly maxTokens: number;
  /** Whether the cut result shows the first part. */
  readonly isBeginningShown: boolean;
}

/** One page of a kept text. A part behind the last one is empty and says how many there are. In slices. */
export function* readPage(kept: KeptText, page: KeptPage): Generator<void, PageText> {
  return page.kind === "part" ? readPart(kept, page.part) : yield* readMatches(kept, page);
}

function readPart(kept: KeptText, part: number): PageText {
  const { length } = kept.starts;
  if (part < 1 || part > length)
    return { text: "", note: `There is no part ${part}: the result has ${length}.`, next: undefined };
  return {
    text: textOfPart(kept, part - 1),
    note: `Part ${part} of ${length}.`,
    next: part < length ? { kind: "part", part: part + 1 } : undefined,
  };
}

function textOfPart({ said, starts }: KeptText, index: number): string {
  const start = starts[index];
  return start === undefined ? "" : readText(said, start, starts[index + 1]?.at ?? said.bytes.length);
}

/** A line that alone is larger than a page is cut around the text that was looked for. */
function* readMatches(kept: KeptText, page: Extract<KeptPage, { kind: "match" }>): Generator<void, PageText> {
  const { maxTokens } = kept;
  const wanted = page.text.toLowerCase();
  const found: string[] = [];
  let total = 0;
  let left = maxTokens;
  let next: KeptPage | undefined;
  for (const read of linesOf(kept)) {
    if (read === undefined) {
      yield;
      continue;
    }
    const { number, line } = read;
    const at = line.toLowerCase().indexOf(wanted);
    if (at === -1) continue;
    total += 1;
    if (number < page.fromLine || next !== undefined) continue;
    const shown = `${number}: ${line}`;
    const end = endWithin(shown, 0, left);
    if (end < shown.length && found.length > 0) {
      next = { ...page, fromLine: number };
      continue;
    }
    const taken = end < shown.length ? `${number}: ${around(line, at, maxTokens)}` : shown;
    found.push(taken);
    left -= estimateTokens(taken) + 1;
  }
  return { text: found.join("\n"), note: matchNote(page, found.length, total), next };
}

function matchNote(page: Extract<KeptPage, { kind: "match" }>, shown: number, total: number): string {
  const what = `lines with ${JSON.stringify(page.text.slice(0, 100))}`;
  return total === 0 ? `There are no ${what}.` : `${shown} of ${total} ${what}, with their numbers.`;
}

interface NumberedLine {
  readonly number: number;
  readonly line: string;
}

/** A line that is longer is looked through in pieces, each with its number. */
const longestLine = 262_144;

/** All lines; undefined where others may have their turn. */
function* linesOf(kept: KeptText): Generator<NumberedLine | undefined> {
  let number = 1;
  let rest = "";
  for (let index = 0; index < kept.starts.length; index += 1) {
    const lines = `${rest}${textOfPart(kept, index)}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      yield { number, line };
      number += 1;
    }
    if (rest.length > longestLine) {
      yield { number, line: rest };
      rest = "";
    }
    yield undefined;
  }
  yield { number, line: rest };
}

/** Some of a long line, with the place that was looked for in its middle. */
function around(line: string, at: number, maxTokens: number): string {
  const start = Math.max(0, at - maxTokens);
  const end = endWithin(line, start, maxTokens - 2);
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""}`;
}
