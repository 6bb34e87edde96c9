import type { KeptPage } from "../../catalog/exposure/kept-uri.ts";
import { endWithin, estimateTokens } from "../../catalog/exposure/token-estimate.ts";
import { endOfPart } from "./text-parts.ts";

/** What a reader gets of a kept text, and what to ask for next; undefined at the end. */
export interface PageText {
  readonly text: string;
  readonly note: string;
  readonly next: KeptPage | undefined;
}

/** A text that is kept to be read in pages. */
export interface KeptText {
  readonly text: string;
  /** What a page may cost, as an estimate. */
  readonly maxTokens: number;
  /** How much of its beginning the cut result shows: the first part. 0 when what it shows is no beginning of it. */
  readonly shown: number;
}

/** The beginnings of all parts of a text. */
export function startsOfParts({ text, maxTokens, shown }: KeptText): readonly number[] {
  const starts = [0];
  const first = shown === 0 ? endOfPart(text, 0, maxTokens) : shown;
  for (let at = first; at < text.length; at = endOfPart(text, at, maxTokens)) starts.push(at);
  return starts;
}

/** One page of a kept text. A part behind the last one is empty and says how many there are. */
export function readPage(kept: KeptText, page: KeptPage): PageText {
  return page.kind === "part" ? readPart(kept, page.part) : readMatches(kept, page);
}

function readPart(kept: KeptText, part: number): PageText {
  const starts = startsOfParts(kept);
  const start = starts[part - 1];
  if (start === undefined)
    return { text: "", note: `There is no part ${part}: the result has ${starts.length}.`, next: undefined };
  return {
    text: kept.text.slice(start, starts[part]),
    note: `Part ${part} of ${starts.length}.`,
    next: part < starts.length ? { kind: "part", part: part + 1 } : undefined,
  };
}

/** A line that alone is larger than a page is cut around the text that was looked for. */
function readMatches({ text, maxTokens }: KeptText, page: Extract<KeptPage, { kind: "match" }>): PageText {
  const wanted = page.text.toLowerCase();
  const found: string[] = [];
  let total = 0;
  let left = maxTokens;
  let next: KeptPage | undefined;
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
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
    const kept = end < shown.length ? `${number}: ${around(line, at, maxTokens)}` : shown;
    found.push(kept);
    left -= estimateTokens(kept) + 1;
  }
  return { text: found.join("\n"), note: matchNote(page, found.length, total), next };
}

function matchNote(page: Extract<KeptPage, { kind: "match" }>, shown: number, total: number): string {
  const what = `lines with ${JSON.stringify(page.text.slice(0, 100))}`;
  return total === 0 ? `There are no ${what}.` : `${shown} of ${total} ${what}, with their numbers.`;
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at <= text.length;) {
    const end = text.indexOf("\n", at);
    yield text.slice(at, end === -1 ? text.length : end);
    if (end === -1) return;
    at = end + 1;
  }
}

/** Some of a long line, with the place that was looked for in its middle. */
function around(line: string, at: number, maxTokens: number): string {
  const start = Math.max(0, at - maxTokens);
  const end = endWithin(line, start, maxTokens - 2);
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""}`;
}
