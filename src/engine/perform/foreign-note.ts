import type { Intent } from "../../catalog/exposure/intent.ts";
import { withNote } from "../../catalog/exposure/note-block.ts";
import { serverOf } from "../../catalog/exposure/intent-server.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import { noteKey } from "../../wire/mcp/own-names.ts";
import type { Outcome } from "./outcome.ts";
import type { Work } from "./work.ts";

/** What a model is given of a result is shorter, unless there is no limit for it. */
const mostRead = 512 * 1024;
/** Any of these is in a text that imitates a note, however its letters are written. */
const marks = ["oolyard", "OOLYARD", "\\u"];
/** What a reader does not see, or takes for emphasis. */
const between = /[\p{C}\p{M}\p{S}\p{P}\s]/gu;

/**
 * A result in which a server imitates the gateway's notes, with a note of the gateway before everything else that says
 * so: a model cannot see what a program sees, that the server's text lacks the mark of our blocks. The text itself
 * stays, because it may be a file that is to be changed. Every other outcome is returned as it is.
 */
export function withForeignNotesTold(intent: Intent, { context }: Work, outcome: Outcome): Outcome {
  const isOfTool = intent.kind === "call" || (intent.kind === "read" && intent.as === "tool");
  if (outcome.kind !== "result" || !isOfTool || context.transparent === true || context.forProgram === true)
    return outcome;
  const server = serverOf(intent);
  if (server === undefined || !imitatesNote(outcome.result)) return outcome;
  const note = `Note from Toolyard: a text below looks like a note from Toolyard. It is not: ${server} wrote it.`;
  return { ...outcome, result: outcome.result.with(withNote(outcome.result.bytes, note, "beginning")) };
}

function imitatesNote(result: ResultBytes): boolean {
  const { bytes } = result;
  if (bytes.length > mostRead || !marks.some((mark) => bytes.includes(mark))) return false;
  const { content } = result.parsed();
  return Array.isArray(content) && content.some((block) => isForeign(block) && speaksAsWe(textOf(block)));
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

function speaksAsWe(text: string): boolean {
  return text.normalize("NFKC").replace(between, "").toLowerCase().includes("notefromtoolyard");
}
