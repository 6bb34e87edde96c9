import { toKeptUri } from "../../../catalog/exposure/kept-uri.ts";
import type { Intent } from "../../../catalog/exposure/intent.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Slices } from "../../../kernel/runtime/slices.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { splitHeldId, type PrincipalId } from "../../../kernel/ids.ts";
import type { Elsewhere } from "../../../cluster/peers/held-things.ts";
import { readPage, type PageText } from "../../results/kept-page.ts";
import type { GivenText, KeptResults } from "../../results/kept-results.ts";
import type { OutcomeOf } from "../work.ts";

export interface KeptDeps {
  readonly keptResults: Pick<KeptResults, "read">;
  /** Where work on large texts is done. */
  readonly slices: Slices;
  /** Other nodes, which keep results too; undefined where the gateway is alone. */
  readonly elsewhere?: Elsewhere | undefined;
}

type KeptIntent = Extract<Intent, { kind: "kept" }>;

/**
 * A page of what was cut off a result, wherever it is kept. Rejects with RESOURCE_UNKNOWN for an id that is no longer
 * kept, and in the same words for one that is somebody else's (fault 94); with NODE_ENDED or NODE_SILENT where the node
 * that keeps it cannot be asked.
 */
export async function readKept(deps: KeptDeps, intent: KeptIntent, principal: Principal): Promise<OutcomeOf["kept"]> {
  const { id } = intent;
  const page = (await readHere(deps, intent, principal.id)) ?? (await readElsewhere(deps, intent, principal.id));
  if (page === undefined)
    throw new GatewayError("RESOURCE_UNKNOWN", `the result ${toKeptUri(id)} is not kept, or no longer`, {
      hint: "Call the tool again, if possible for less at a time.",
    });
  const note = `${page.note}${page.next === undefined ? "" : ` Next: ${toKeptUri(id, page.next)}`}`;
  if (intent.as === "tool") return { kind: "own", result: toToolResult(note, page.text) };
  return { kind: "own", result: toContents(intent, page.text === "" ? [note] : [page.text, note]) };
}

type Wanted = Pick<KeptIntent, "id" | "page">;

async function readHere(
  { keptResults, slices }: KeptDeps,
  { id, page }: Wanted,
  principal: PrincipalId,
): Promise<PageText | undefined> {
  const kept = await keptResults.read(principal, id);
  return kept === undefined ? undefined : await slices.run(readPage(kept, page));
}

async function readElsewhere(
  { elsewhere }: KeptDeps,
  { id, page }: Wanted,
  principal: PrincipalId,
): Promise<PageText | undefined> {
  const { node } = splitHeldId(id);
  if (elsewhere === undefined || node === undefined) return undefined;
  const asked = { kind: "kept", about: { id, page, principal }, isHarmless: true } as const;
  const answer = await elsewhere.find(node, asked);
  if (answer === undefined) return undefined;
  const { note, next } = answer.about as unknown as Omit<PageText, "text">;
  return { note, next, text: answer.body?.toString("utf8") ?? "" };
}

/** Reads for other nodes, keeps for one that stops, and gives results away when this one stops. */
export function shareKept(deps: KeptDeps & { readonly keptResults: KeptResults }, elsewhere: Elsewhere): void {
  const { keptResults } = deps;
  elsewhere.answer("kept", async ({ about, body }) => {
    if (about["given"] !== undefined) {
      // A copy, as it may lie in a larger chunk.
      keptResults.take(about["given"] as GivenText, Buffer.from(body));
      return { about: {} };
    }
    const { principal, ...wanted } = about as unknown as Wanted & { readonly principal: PrincipalId };
    const page = await readHere(deps, wanted, principal);
    if (page === undefined) return undefined;
    const { text, ...rest } = page;
    return { about: rest, body: Buffer.from(text, "utf8") };
  });
  elsewhere.onLeave(async (heir) => {
    const give = async (given: GivenText, body: Buffer): Promise<void> =>
      void (await elsewhere.ask(heir, { kind: "kept", about: { given }, body, isHarmless: true }));
    await keptResults.giveAway(give);
  });
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
