import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleView } from "../../../test/sample-view.ts";
import { createPhraseBook, phraseKey, phraseSourceFrom } from "../../catalog/search/language/phrase-book.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import { readPhraseReport } from "./token-report.ts";

const meta = (phrases: readonly string[]) => ({ _meta: { "toolyard/phrases": phrases } });
const instance = sampleInstance("files", [
  { name: "said_by_server", ...meta(["a"]) },
  { name: "said_by_config", ...meta(["b"]) },
  { name: "silenced", ...meta([]) },
  { name: "in_the_book" },
  { name: "by_a_model" },
  { name: "by_nobody" },
]);
const toolNamed = (name: string) => instance.tools.find((tool) => tool.upstreamName === name) as ToolEntry;
const book = createPhraseBook([`${phraseKey(toolNamed("in_the_book"))} in_the_book: read it`]);
const sourceOf = phraseSourceFrom(book, ({ upstreamName }) =>
  ["by_a_model", "silenced", "in_the_book"].includes(upstreamName) ? ["written"] : [],
);
const isConfigured = (_server: unknown, { upstreamName }: ToolEntry): boolean => upstreamName !== "said_by_server";

test("each tool is counted once, by the phrases that the search uses", () => {
  const report = readPhraseReport(sampleView([instance]), { sourceOf, isConfigured, enrichment: undefined });
  expect(report).toEqual({ phrases: { config: 1, server: 1, book: 1, enrich: 1, none: 2 }, enrichment: null });
});

test("what a model has cost is told as it was counted", () => {
  const spent = { asked: 3, failed: 1, promptTokens: 900, answerTokens: 60, isExact: false };
  const enrichment = { written: 2, waiting: 4, givenUp: 1, tokensThisHour: 9, spent, state: "writing" } as const;
  const report = readPhraseReport(sampleView([instance]), { sourceOf, isConfigured, enrichment });
  expect(report.enrichment).toEqual({ ...spent, state: "writing", waiting: 4, givenUp: 1 });
});
