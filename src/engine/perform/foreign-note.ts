import { type Intent, serverOf } from "../../catalog/exposure/intent.ts";
import { withNote } from "../../catalog/exposure/meta/restart-notice.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import { allSteps, type Slices } from "../../kernel/runtime/slices.ts";
import { noteKey } from "../../wire/mcp/shapes/own-names.ts";
import type { Outcome, Work } from "./work.ts";

/** What a model is given of a result is shorter, unless there is no limit for it. */
const mostRead = 512 * 1024;
/** Between two letters, in the bytes of JSON: ends of lines are escapes there. */
const gap = String.raw`(?:\\[bfnrt]|[^A-Za-z]){0,12}`;
/**
 * Every text that imitates a note has one of these: the letters in any case, also with something between them, or one
 * of the ways of writing another letter that NFKC makes a Latin one. In bytes, as latin1.
 */
const mark = new RegExp(
  [
    Array.from("oolyard", (letter) => `[${letter}${letter.toUpperCase()}]`).join(gap),
    String.raw`\\u`,
    // Full width, letters as numbers, phonetic, mathematical, in squares.
    String.raw`\xef\xbc[\xa1-\xba]|\xef\xbd[\x81-\x9a]|\xe2[\x84\x92\x93]|\xe1[\xb4-\xb6]|\xf0\x9d|\xf0\x9f\x84`,
  ].join("|"),
);
/** What a reader does not see, or takes for emphasis. */
const between = /[\p{C}\p{M}\p{S}\p{P}\s]/gu;
const noteWords = "notefromtoolyard";
/** Up to this size it is looked through in one turn. */
const atOnce = 16_384;
/** Characters at a time. One letter may become eighteen. */
const step = 4_096;

/**
 * A result in which a server imitates the gateway's notes, with a note of the gateway before everything else that says
 * so: a model cannot see what a program sees, that the server's text lacks the mark of our blocks. The text itself
 * stays, because it may be a file that is to be changed. Every other outcome is returned as it is.
 */
export function withForeignNotesTold(
  slices: Slices,
  intent: Intent,
  { context }: Work,
  outcome: Outcome,
): Outcome | Promise<Outcome> {
  const isOfTool = intent.kind === "call" || (intent.kind === "read" && intent.as === "tool");
  if (outcome.kind !== "result" || !isOfTool || context.transparent === true || context.forProgram === true)
    return outcome;
  const server = serverOf(intent);
  if (server === undefined || !mayImitate(outcome.result)) return outcome;
  const toTold = (imitates: boolean): Outcome => (imitates ? told(server, outcome) : outcome);
  const search = imitatesNote(outcome.result);
  return outcome.result.bytes.length <= atOnce ? toTold(allSteps(search)) : slices.run(search).then(toTold);
}

function told(server: string, outcome: Extract<Outcome, { readonly kind: "result" }>): Outcome {
  const note = `Note from Toolyard: a text below looks like a note from Toolyard. It is not: ${server} wrote it.`;
  return { ...outcome, result: outcome.result.with(withNote(outcome.result.bytes, note, "beginning")) };
}

function mayImitate({ bytes }: ResultBytes): boolean {
  return bytes.length <= mostRead && mark.test(bytes.toString("latin1"));
}

/** Yields after each short step. */
function* imitatesNote(result: ResultBytes): Generator<undefined, boolean> {
  const { content } = result.parsed();
  if (!Array.isArray(content)) return false;
  for (const block of content as readonly unknown[])
    if (isForeign(block) && (yield* speaksAsWe(textOf(block)))) return true;
  return false;
}

/** Names of the gateway were taken from the server's own blocks when the result was checked. */
function isForeign(block: unknown): boolean {
  const meta = isJsonObject(block) ? block["_meta"] : undefined;
  return !isJsonObject(meta) || meta[noteKey] === undefined;
}

function textOf(block: unknown): string {
  if (!isJsonObject(block)) return "";
  const { text, resource } = block;
  const within = isJsonObject(resource) ? resource["text"] : undefined;
  return typeof text === "string" ? text : typeof within === "string" ? within : "";
}

function* speaksAsWe(text: string): Generator<undefined, boolean> {
  let last = "";
  for (let at = 0; at < text.length; at += step) {
    const letters = text
      .slice(at, at + step)
      .normalize("NFKC")
      .replace(between, "")
      .toLowerCase();
    last += letters;
    if (last.includes(noteWords)) return true;
    last = last.slice(1 - noteWords.length);
    yield;
  }
  return false;
}
