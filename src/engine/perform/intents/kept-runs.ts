import type { KeptSearch } from "../../../catalog/discovery/kept-searches.ts";
import { readDiscoverArguments } from "../../../catalog/exposure/meta/meta-arguments.ts";
import { resolveTool } from "../../../catalog/exposure/text/tool-lookup.ts";
import type { LazyNames } from "../../../catalog/model/names/lazy-names.ts";
import type { View } from "../../../catalog/model/view.ts";
import { noArguments, type CallContext } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Performer } from "../perform.ts";

/** As deep as a search can be asked to look. */
export const deepestPlace = 50;
/** As many as one search may have. */
const batch = 10;

/** Whose searches are made, with what they may see. */
export interface KeptRunWork {
  readonly performer: Pick<Performer, "perform">;
  readonly view: View;
  readonly context: CallContext;
}

/** A kept search that was made again. */
export interface KeptPlaced extends KeptSearch {
  /** From 1; null where it is not among those that were looked through. */
  readonly rankNow: number | null;
  /** Whether the asking principal may call a tool of this path now. */
  readonly toolExists: boolean;
  /** The tool that is found first now. */
  readonly first: string | null;
}

/** A tool that somebody wants a search to find. */
export interface ToolToFind {
  readonly path: string;
  /** False where its server has not told yet what it offers: the tool may exist once it is up. */
  readonly toolExists: boolean;
}

/**
 * The tool that a search is to be kept with, in any spelling. Rejects with TOOL_UNKNOWN, which names the closest paths,
 * and TOOL_AMBIGUOUS: a name that was mistyped would be looked for in vain for ever.
 */
export async function toolToFind(view: View, spelling: string, namesInTurns: LazyNames): Promise<ToolToFind> {
  await namesInTurns(view, undefined, spelling);
  try {
    return { path: resolveTool(view, spelling, noArguments).tool.path, toolExists: true };
  } catch (error) {
    const isMistyped = error instanceof GatewayError && ["TOOL_UNKNOWN", "TOOL_AMBIGUOUS"].includes(error.code);
    if (isMistyped || !(error instanceof GatewayError)) throw error;
    return { path: spelling, toolExists: false };
  }
}

/** Where a question finds a tool now. Nothing is learned from it. Rejects with SEARCH_FAILED. */
export async function placeNow(
  work: KeptRunWork,
  { query, tool }: Pick<KeptSearch, "query" | "tool">,
): Promise<number | null> {
  const [found] = (await findAll(work, [query])).needs;
  return placeOf(found ?? [], tool);
}

/** Makes all of them again. Nothing is learned from it. Rejects with SEARCH_FAILED. */
export async function runKept(
  work: KeptRunWork,
  kept: readonly KeptSearch[],
): Promise<{ readonly searches: readonly KeptPlaced[]; readonly degraded: string | null }> {
  const queries = [...new Set(kept.map(({ query }) => query))];
  const { needs, degraded } = await findAll(work, queries);
  const existing = existingOf(work.view, new Set(kept.map(({ tool }) => tool)));
  const searches = kept.map((search): KeptPlaced => {
    const found = needs[queries.indexOf(search.query)] ?? [];
    const rankNow = placeOf(found, search.tool);
    return { ...search, rankNow, toolExists: existing.has(search.tool), first: found[0] ?? null };
  });
  return { searches, degraded };
}

interface FoundAll {
  /** For each query the paths of what was found, the best first. */
  readonly needs: readonly (readonly string[])[];
  /** What the search could not use this time. */
  readonly degraded: string | null;
}

async function findAll({ performer, view, context }: KeptRunWork, queries: readonly string[]): Promise<FoundAll> {
  const needs: (readonly string[])[] = [];
  let degraded: string | null = null;
  for (let at = 0; at < queries.length; at += batch) {
    const asked = readDiscoverArguments({ queries: queries.slice(at, at + batch), limit: deepestPlace });
    const found = await performer.perform(
      { kind: "discover", request: { ...asked, isTrial: true } },
      { view, context },
    );
    if (found.kind === "servers") throw new GatewayError("INTERNAL", "a search was answered with servers");
    if (found.search === undefined) throw new GatewayError("SEARCH_FAILED", found.failed ?? "the search failed");
    degraded ??= found.search.degraded ?? null;
    needs.push(...found.search.needs.map(({ hits }) => hits.map(({ tool }) => tool.path)));
  }
  return { needs, degraded };
}

function placeOf(found: readonly string[], tool: string): number | null {
  const at = found.indexOf(tool);
  return at === -1 ? null : at + 1;
}

/** Of these paths those that are a tool's. A hundred thousand tools are scanned once, not for each path. */
function existingOf({ servers }: View, paths: ReadonlySet<string>): ReadonlySet<string> {
  const existing = new Set<string>();
  for (const { tools } of servers) for (const { path } of tools) if (paths.has(path)) existing.add(path);
  return existing;
}
