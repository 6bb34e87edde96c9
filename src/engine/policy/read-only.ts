import { effectOfCall } from "../../catalog/model/effects.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ToolEffect } from "../../kernel/call/tool-effects.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";
import { effectOf, type DecidingServer } from "./decide.ts";

/** Whether a call may pass as one that only reads, and what it does otherwise. */
export interface ReadOnlyVerdict {
  readonly passes: boolean;
  readonly effect: ToolEffect;
  /** Why it has this effect, as the end of a sentence. */
  readonly because: string;
}

/** What a server's `readOnlyHint` is believed about: names that say so themselves are no matter of belief. */
const believed: ReadonlySet<ToolEffect> = new Set(["write", "unknown"]);

/**
 * Judges a call through execute_read_only_mcp_tool. It passes if it reads, or if its server says that the tool only
 * reads and neither the name, the configuration nor the arguments say more than that it may write. Pure.
 *
 * @param given the arguments; left out, it is about the tool as a whole
 */
export function judgeReadOnly(tool: ToolEntry, server: DecidingServer, given?: () => unknown): ReadOnlyVerdict {
  const { upstreamName, definition } = tool;
  const said = effectOf(tool, server);
  const effect = given === undefined ? said.effect : effectOfCall(said.effect, said.choices, given());
  if (effect !== said.effect) return { passes: false, effect, because: "its arguments say so" };
  if (effect === "read") return { passes: true, effect, because: said.because };
  const isHinted = server.annotations !== "ignore" && definition.annotations?.readOnlyHint === true;
  const isWritten = Object.keys(server.tools.effects).some((pattern) => matchesPattern(pattern, upstreamName));
  return { passes: isHinted && believed.has(effect) && !isWritten, effect, because: said.because };
}
