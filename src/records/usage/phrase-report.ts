import type { EnrichmentState } from "../../catalog/discovery/phrases/enrichment.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { View, ViewServer } from "../../catalog/model/view.ts";
import type { PhraseSource } from "../../catalog/search/language/phrase-book.ts";

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
