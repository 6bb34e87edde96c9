import { toKeptUri } from "../../../catalog/exposure/kept-uri.ts";
import type { Intent } from "../../../catalog/exposure/intent.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Slices } from "../../../kernel/runtime/slices.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { readPage } from "../../results/kept-page.ts";
import type { KeptResults } from "../../results/kept-results.ts";
import type { OutcomeOf } from "../work.ts";

export interface KeptDeps {
  readonly keptResults: Pick<KeptResults, "read">;
  /** Where work on large texts is done. */
  readonly slices: Slices;
}

type KeptIntent = Extract<Intent, { kind: "kept" }>;

/**
 * A page of what was cut off a result. Rejects with RESOURCE_UNKNOWN for an id that is no longer kept, and in the same
 * words for one that is somebody else's (fault 94).
 */
export async function readKept(
  { keptResults, slices }: KeptDeps,
  intent: KeptIntent,
  principal: Principal,
): Promise<OutcomeOf["kept"]> {
  const kept = await keptResults.read(principal.id, intent.id);
  if (kept === undefined)
    throw new GatewayError("RESOURCE_UNKNOWN", `the result ${toKeptUri(intent.id)} is not kept, or no longer`, {
      hint: "Call the tool again, if possible for less at a time.",
    });
  const page = await slices.run(readPage(kept, intent.page));
  const note = `${page.note}${page.next === undefined ? "" : ` Next: ${toKeptUri(intent.id, page.next)}`}`;
  if (intent.as === "tool") return { kind: "own", result: toToolResult(note, page.text) };
  return { kind: "own", result: toContents(intent, page.text === "" ? [note] : [page.text, note]) };
}

/** The note comes first and on a line of its own, as that of the cut result does. */
function toToolResult(note: string, text: string): { readonly content: readonly object[] } {
  const texts = text === "" ? [note] : [`${note}\n`, text];
  return { content: texts.map((one) => ({ type: "text", text: one })) };
}

/** For programs: the first content is what the server said and nothing else. */
function toContents(intent: KeptIntent, texts: readonly string[]): { readonly contents: readonly object[] } {
  const uri = toKeptUri(intent.id, intent.page);
  return { contents: texts.map((text) => ({ uri, mimeType: "text/plain", text })) };
}
