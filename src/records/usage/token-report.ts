import type { Exposure, PinnedTools } from "../../catalog/exposure/exposure.ts";
import type { View, ViewServer } from "../../catalog/model/view.ts";
import type { FindingSpent } from "./finding-spent.ts";
import type { FindingHistory, MeasuredSession } from "./finding-history.ts";
import type { ListCosts, ServerCost, TokenSum } from "./list-costs.ts";
import type { EnrichmentState } from "../../catalog/discovery/phrases/enrichment.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { PhraseSource } from "../../catalog/search/language/phrase-book.ts";

/**
 * What tools cost models in tokens, and what finding them saves. Measured, never multiplied by anything and never cut
 * off at zero. What tools answer is not in it: it costs the same either way.
 */
export interface TokenReport {
  readonly tokenizer: "o200k_base";
  /** What the list of `/mcp/flat` costs now, and its instructions. */
  readonly flat: TokenSum;
  /** What the list of this exposure costs, and its instructions. */
  readonly here: TokenSum & { readonly exposure: string };
  /**
   * `flat` less `here`: the tokens that are not read when a conversation begins. Negative where the short list costs
   * more.
   */
  readonly savedAtStart: TokenSum;
  readonly spentOnFinding: SpentReport;
  readonly sessions: SessionsReport;
  readonly servers: readonly ServerCost[];
  /** How many tools of this list have phrases, by who wrote them. */
  readonly phrases: PhraseReport["phrases"];
  /** What was spent on writing phrases, if a model is asked for them; no model that works reads these tokens. */
  readonly enrichment: PhraseReport["enrichment"];
}

/** Estimates of what was measured today (UTC). */
export interface SpentReport {
  /** Midnight, or when counting began on this day. */
  readonly sinceMs: number;
  /** `answerTokens` and `wrappingTokens`. */
  readonly tokens: number;
  /** Answers of discover_mcp_tools. */
  readonly answers: number;
  readonly answerTokens: number;
  readonly wrappedCalls: number;
  /** What models wrote more because they called tools through execute_mcp_tool. */
  readonly wrappingTokens: number;
}

/** Real sessions at this exposure in the last thirty days: those that asked for the list of tools. */
export interface SessionsReport {
  readonly count: number;
  /** When the first of them began; null where there is none. */
  readonly sinceMs: number | null;
  /** What a session saved at its start less what it spent since; null without sessions of which that is known. */
  readonly medianNet: number | null;
  readonly worstNet: number | null;
  readonly isExact: boolean;
  /** Hours in which a session began, the oldest first, with the sum of what its sessions saved less what they spent. */
  readonly byHour: readonly HourSaved[];
  /** Sessions of clients that keep definitions from their models by themselves: what was saved is unknown. */
  readonly unknown: readonly { readonly client: string; readonly sessions: number }[];
}

export interface HourSaved {
  /** When the hour begins. */
  readonly fromMs: number;
  /** Sessions of which it is known what they saved. */
  readonly sessions: number;
  readonly net: number;
}

export interface TokenReportAsk {
  readonly view: View;
  readonly exposure: Exposure;
  readonly pinned?: PinnedTools | undefined;
  /** Whose sessions and spending; undefined for everybody's. */
  readonly principal: string | undefined;
}

export interface TokenReportDeps {
  readonly costs: ListCosts;
  readonly finding: Pick<FindingHistory, "read">;
  readonly phrases: (view: View) => Promise<PhraseReport>;
}

const hourMs = 3_600_000;

/** Reports the present figures; `costs.count` makes estimates of definitions exact. */
export async function readTokenReport(
  { costs, finding, phrases }: TokenReportDeps,
  ask: TokenReportAsk,
): Promise<TokenReport> {
  const { view, exposure, pinned, principal } = ask;
  await costs.prepare(view);
  const flat = costs.flat(view);
  const here = costs.of(view, exposure, { pinned });
  const { sinceMs, spent, sessions } = await finding.read({ exposure: exposure.name, principal });
  return {
    tokenizer: "o200k_base",
    flat,
    here: { exposure: exposure.name, ...here },
    savedAtStart: { tokens: flat.tokens - here.tokens, isExact: flat.isExact && here.isExact },
    spentOnFinding: toSpentReport(sinceMs, spent),
    sessions: toSessionsReport(sessions),
    servers: costs.servers(view),
    ...(await phrases(view)),
  };
}

function toSpentReport(sinceMs: number, spent: readonly FindingSpent[]): SpentReport {
  const sum = (read: (row: FindingSpent) => number): number => spent.reduce((total, row) => total + read(row), 0);
  const answerTokens = sum((row) => row.answerTokens);
  const wrappingTokens = sum((row) => row.wrappingTokens);
  return {
    sinceMs,
    tokens: answerTokens + wrappingTokens,
    answers: sum(({ answers }) => answers),
    answerTokens,
    wrappedCalls: sum(({ wrappedCalls }) => wrappedCalls),
    wrappingTokens,
  };
}

export function toSessionsReport(sessions: readonly MeasuredSession[]): SessionsReport {
  const known = sessions.flatMap(({ isLazy, saved, spent, startedMs }) =>
    isLazy || saved === undefined ? [] : [{ net: saved.tokens - spent, isExact: saved.isExact, startedMs }],
  );
  const nets = known.map(({ net }) => net).toSorted((left, right) => left - right);
  const lazy = new Map<string, number>();
  for (const { isLazy, client } of sessions) if (isLazy) lazy.set(client ?? "", (lazy.get(client ?? "") ?? 0) + 1);
  return {
    count: sessions.length,
    sinceMs:
      sessions.length === 0 ? null : sessions.reduce((first, { startedMs }) => Math.min(first, startedMs), Infinity),
    medianNet: medianOf(nets),
    worstNet: nets[0] ?? null,
    // What was spent is always an estimate.
    isExact: known.every(({ isExact }) => isExact) && sessions.every(({ spent }) => spent === 0),
    byHour: sumByHour(known),
    unknown: [...lazy].map(([client, count]) => ({ client, sessions: count })),
  };
}

function sumByHour(known: readonly { readonly net: number; readonly startedMs: number }[]): readonly HourSaved[] {
  const hours = new Map<number, { sessions: number; net: number }>();
  for (const { net, startedMs } of known) {
    const fromMs = startedMs - (startedMs % hourMs);
    const { sessions, net: before } = hours.get(fromMs) ?? { sessions: 0, net: 0 };
    hours.set(fromMs, { sessions: sessions + 1, net: before + net });
  }
  return [...hours].map(([fromMs, sums]) => ({ fromMs, ...sums })).toSorted((one, other) => one.fromMs - other.fromMs);
}

/** Of an even number of sessions, the lower of the two in the middle, so that it is one that there was. */
function medianOf(sorted: readonly number[]): number | null {
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

/** How many tools of a view have phrases by which they are found, by who wrote them. */
export interface PhraseCounts {
  readonly config: number;
  readonly server: number;
  readonly book: number;
  readonly enrich: number;
  readonly none: number;
}

/** What a model that writes phrases has cost since the first start, for everybody together. */
export interface EnrichmentReport {
  readonly state: EnrichmentState["state"];
  readonly asked: number;
  readonly failed: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
  /** Whether every answer said what it took. */
  readonly isExact: boolean;
  readonly waiting: number;
  readonly givenUp: number;
}

export interface PhraseReport {
  readonly phrases: PhraseCounts;
  /** Null where no model is asked. */
  readonly enrichment: EnrichmentReport | null;
}

export interface PhraseReportDeps {
  readonly sourceOf: (tool: ToolEntry) => PhraseSource | undefined;
  /** Whether the configuration has phrases for the tool, in place of its server's. */
  readonly isConfigured: (server: ViewServer, tool: ToolEntry) => boolean;
  readonly enrichment: EnrichmentState | undefined;
}

/** Who has said how the tools of a view may be asked for. */
export function readPhraseReport(view: View, { sourceOf, isConfigured, enrichment }: PhraseReportDeps): PhraseReport {
  const phrases = { config: 0, server: 0, book: 0, enrich: 0, none: 0 };
  for (const server of view.servers) {
    for (const tool of server.shown ? server.tools : []) {
      const source = sourceOf(tool) ?? "none";
      if (source !== "definition") phrases[source] += 1;
      else phrases[isConfigured(server, tool) ? "config" : "server"] += 1;
    }
  }
  return { phrases, enrichment: enrichment === undefined ? null : toReport(enrichment) };
}

function toReport({ state, spent, waiting, givenUp }: EnrichmentState): EnrichmentReport {
  return { state, ...spent, waiting, givenUp };
}
