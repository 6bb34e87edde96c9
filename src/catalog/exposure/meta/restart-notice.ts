import type { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { serverOf } from "./intent-server.ts";
import type { Intent } from "../intent.ts";
import { withNote } from "./note-block.ts";
import { withMetaEntries } from "../../../wire/json/spliced-json.ts";

/** The key under which programs find the notice. */
const restartedKey = "toolyard/restarted";

/** The result of a call to a server that has lost what it held for the caller. */
export interface Loss {
  /** Why it was lost, as the end of a sentence. Undefined when nothing was. */
  readonly reason: string | undefined;
  readonly intent: Intent;
  /** Whether a model may read the result, and not just a program. */
  readonly forModel: boolean;
}

/**
 * The same result with a notice that the server has lost its state: in `_meta` for programs, and for models as one more
 * text block at the end of a tool's `content`. Every other byte stays.
 */
export function withLossTold(result: ResultBytes, { reason, intent, forModel }: Loss): ResultBytes {
  const server = reason === undefined ? undefined : serverOf(intent);
  if (server === undefined || reason === undefined) return result;
  const notice =
    `${server} was restarted since you last used it, and what it held for you (open pages, variables, connections) ` +
    `is gone: ${reason}.`;
  const told =
    forModel && isOfTool(intent)
      ? withNote(result.bytes, `Note from Toolyard: ${notice} Set up again what you need.`)
      : result.bytes;
  return result.with(withMetaEntries(told, { [restartedKey]: notice }));
}

function isOfTool(intent: Intent): boolean {
  return intent.kind === "call" || (intent.kind === "read" && intent.as === "tool");
}
