import { toKeptUri } from "../../catalog/exposure/kept-uri.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { readPage } from "../results/kept-page.ts";
import type { KeptResults } from "../results/kept-results.ts";
import type { OutcomeOf } from "./outcome.ts";

export interface KeptDeps {
  readonly keptResults: Pick<KeptResults, "read">;
}

type KeptIntent = Extract<Intent, { kind: "kept" }>;

/**
 * A page of what was cut off a result. Rejects with RESOURCE_UNKNOWN for an id that is no longer kept, and in the same
 * words for one that is somebody else's (fault 94).
 */
export async function readKept(
  { keptResults }: KeptDeps,
  intent: KeptIntent,
  principal: Principal,
): Promise<OutcomeOf["kept"]> {
  const kept = await keptResults.read(principal.id, intent.id);
  if (kept === undefined)
    throw new GatewayError("RESOURCE_UNKNOWN", `the result ${toKeptUri(intent.id)} is not kept, or no longer`, {
      hint: "Call the tool again, if possible for less at a time.",
    });
  const page = readPage(kept, intent.page);
  const note = `${page.note}${page.next === undefined ? "" : ` Next: ${toKeptUri(intent.id, page.next)}`}`;
  const texts = page.text === "" ? [note] : [page.text, note];
  return { kind: "own", result: intent.as === "tool" ? toToolResult(texts.toReversed()) : toContents(intent, texts) };
}

/** The note comes first, as that of the cut result does. */
function toToolResult(texts: readonly string[]): { readonly content: readonly object[] } {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/** For programs: the first content is what the server said and nothing else. */
function toContents(intent: KeptIntent, texts: readonly string[]): { readonly contents: readonly object[] } {
  const uri = toKeptUri(intent.id, intent.page);
  return { contents: texts.map((text) => ({ uri, mimeType: "text/plain", text })) };
}
