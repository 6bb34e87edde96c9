import type { Intent } from "../../catalog/exposure/intent.ts";
import { withNote } from "../../catalog/exposure/meta/note-block.ts";
import { withEntries, withMetaEntries } from "../../catalog/exposure/meta/meta-entry.ts";
import { isJsonObject, parseJsonObject, type JsonBytes } from "../../kernel/text/json-bytes.ts";
import { formatHint } from "../validation/formats/format-hint.ts";
import type { Outcome } from "./outcome.ts";
import type { Work } from "./work.ts";

/** The key under which programs find the hint. */
const hintKey = "toolyard/hint";

/**
 * A refused call with a hint, where a text in its arguments does not have the format that the tool's schema names: in
 * `_meta` of a result with `isError` and for models as one more text block, in `data` of a JSON-RPC error. Formats are
 * looked at only now, because they are annotations and the server decides. Every other byte of the refusal stays, and
 * every other outcome is returned as it is.
 */
export function withFormatsTold(intent: Intent, { context }: Work, outcome: Outcome): Outcome {
  if (intent.kind !== "call" || context.transparent === true || !isRefused(outcome)) return outcome;
  const hint = formatHint(intent.tool.definition.inputSchema, intent.arguments.value);
  if (hint === undefined) return outcome;
  if (outcome.kind === "error") return { ...outcome, error: withHint(outcome.error, hint) };
  const { bytes } = outcome.result;
  const told = context.forProgram === true ? bytes : withNote(bytes, `Note from Toolyard: ${hint}`);
  return { ...outcome, result: outcome.result.with(withMetaEntries(told, { [hintKey]: hint })) };
}

type Refused = Extract<Outcome, { kind: "result" | "error" }>;

function isRefused(outcome: Outcome): outcome is Refused {
  return outcome.kind === "error" || (outcome.kind === "result" && outcome.result.isError);
}

/** Data of another kind is the server's, and leaves no room. */
function withHint(error: JsonBytes, hint: string): JsonBytes {
  const parsed = parseJsonObject(error);
  const data = parsed?.["data"] ?? {};
  return parsed !== undefined && isJsonObject(data) ? withEntries(error, "data", { [hintKey]: hint }) : error;
}
