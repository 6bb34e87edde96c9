import { expect, test } from "vitest";
import { createManualClock, settle, type ManualClock } from "../../../test/harness/manual-clock.ts";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleView } from "../../../test/sample-view.ts";
import { flatExposure } from "../../catalog/exposure/meta/flat.ts";
import { metaExposure } from "../../catalog/exposure/meta/meta.ts";
import { createServerExposure } from "../../catalog/exposure/server.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { clientProfiles } from "../../config/rows/client-profiles.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { createFindingHistory } from "./finding-history.ts";
import { createFinding, wrappingOf, type Sender } from "./finding.ts";
import { createLazyNames } from "../../catalog/model/names/lazy-names.ts";
import { createListCosts, type ListCosts } from "./list-costs.ts";
import { readPhraseReport, readTokenReport } from "./token-report.ts";
import { textKeyOf, type TextKey } from "./token-counts.ts";

const manyTools = Array.from({ length: 60 }, (_, at) => ({
  name: `tool_${at}`,
  description: `Does the thing of number ${at}, and tells what came of it in a sentence or two.`,
}));
const large = sampleView([sampleInstance("files", manyTools)]);
const small = sampleView([sampleInstance("files", manyTools.slice(0, 1))]);
const [tool] = large.servers[0]?.tools ?? [];
const dayMs = 86_400_000;

/** Counts that are told, so that a test decides when an estimate becomes exact. */
function createKnownCounts() {
  const known = new Map<TextKey, number>();
  const asked: string[] = [];
  return {
    asked,
    known,
    get: (key: TextKey) => known.get(key),
    load: async () => undefined,
    async count(texts: readonly string[]) {
      asked.push(...texts);
      for (const text of texts) known.set(textKeyOf(text), 10);
    },
  };
}

const noPhrases = async () =>
  readPhraseReport(small, { sourceOf: () => undefined, isConfigured: () => false, enrichment: undefined });
const ada: Principal = { ...localPrincipal, id: "ada" as Principal["id"] };

function senderOf(name: string, given: { connected?: object; principal?: Principal } = {}): Sender {
  const { connected, principal = ada } = given;
  return {
    principal,
    client: { era: "legacy", revision: "2025-11-25", name, capabilities: {} },
    connected: connected as CallContext["connected"],
  };
}

const listing = (view = large, exposure = metaExposure) => ({ view, exposure, client: undefined });

function open(clock: ManualClock, counts = createKnownCounts()) {
  const costs: ListCosts = createListCosts(counts, createLazyNames());
  const finding = createFinding({ clock, costs });
  const history = createFindingHistory({ finding, clock, store: () => undefined });
  const report = async (principal?: string, view = large, exposure = metaExposure) =>
    await readTokenReport({ costs, finding: history, phrases: noPhrases }, { view, exposure, principal });
  return { costs, counts, finding, report };
}

test("what is listed flat and here is estimated at first, marked as such, and exact once it was counted", async () => {
  const { costs, counts, report } = open(createManualClock());
  const before = await report();
  const estimate = [...flatExposure.list(large, "tools").items, flatExposure.instructions(large)].reduce(
    (sum, text) => sum + estimateTokens(text),
    0,
  );
  expect(before).toMatchObject({
    flat: { tokens: estimate, isExact: false },
    here: { exposure: "meta", isExact: false },
    savedAtStart: { tokens: estimate - before.here.tokens, isExact: false },
    servers: [{ server: "files", tools: 60, isExact: false }],
  });
  await costs.count(large, metaExposure);
  expect(await report()).toMatchObject({
    flat: { tokens: 610, isExact: true },
    here: { tokens: 10 * (metaExposure.list(large, "tools").items.length + 1), isExact: true },
    servers: [{ server: "files", tools: 60, tokens: 600, isExact: true }],
  });
  // Every text once, however often it is asked for.
  counts.asked.splice(0);
  await costs.count(large, flatExposure);
  expect(counts.asked.filter((text) => text.startsWith("{"))).toEqual([]);
});

test("net of sessions: what was saved at the start less what was spent, median and worst, negative too", async () => {
  const clock = createManualClock();
  const { costs, finding, report } = open(clock);
  const answers = ["a", "b", "c", "d"].map((letter, at) => `${letter} word`.repeat(20 ** at));
  const sessions = answers.map((_, at) => senderOf("cursor", { connected: { id: String(at) } }));
  for (const session of sessions) finding.listed(session, listing());
  for (const [at, session] of sessions.entries()) finding.answered(session, answers[at] ?? "");
  await clock.advance(60_000);
  expect((await report()).sessions.medianNet).not.toBeNull();
  await costs.count(large, metaExposure);
  const saved = 610 - 10 * (metaExposure.list(large, "tools").items.length + 1);
  const nets = answers.map((answer) => saved - estimateTokens(answer)).sort((left, right) => left - right);
  expect(nets[0]).toBeLessThan(0);
  const { sessions: told, spentOnFinding } = await report();
  const byHour = [{ fromMs: 0, sessions: 4, net: nets.reduce((sum, net) => sum + net, 0) }];
  const figures = { count: 4, sinceMs: 0, medianNet: nets[1], worstNet: nets[0], isExact: false };
  expect(told).toEqual({ ...figures, byHour, unknown: [] });
  expect(spentOnFinding).toMatchObject({
    answers: 4,
    answerTokens: answers.reduce((sum, answer) => sum + estimateTokens(answer), 0),
    wrappedCalls: 0,
  });
});

test("a small catalog saves nothing: the figure is negative, and neither multiplied nor cut off", async () => {
  const clock = createManualClock();
  const { finding, report } = open(clock);
  finding.listed(senderOf("cursor"), listing(small));
  const { savedAtStart, flat, here, sessions } = await report(undefined, small);
  expect(savedAtStart.tokens).toBe(flat.tokens - here.tokens);
  expect(savedAtStart.tokens).toBeLessThan(0);
  expect([sessions.count, sessions.medianNet]).toEqual([1, savedAtStart.tokens]);
});

test("a call through execute_mcp_tool costs what it is longer than a call by the flat name", async () => {
  const { finding, report } = open(createManualClock());
  const sender = senderOf("cursor");
  if (tool === undefined) throw new Error("there is no tool");
  for (let at = 0; at < 3; at += 1) finding.wrapped(sender, tool);
  const each = wrappingOf("files:tool_0", "files-tool_0");
  expect(each).toBeGreaterThan(0);
  expect((await report()).spentOnFinding).toMatchObject({
    wrappedCalls: 3,
    wrappingTokens: 3 * each,
    tokens: 3 * each,
  });
  expect((await report()).sessions.count).toBe(0);
});

test("what a client saves that loads definitions lazily is unknown, and the client is named", async () => {
  const { finding, report } = open(createManualClock());
  const client = clientProfiles["claude-code"];
  for (const id of ["1", "2"]) finding.listed(senderOf("claude-code", { connected: { id } }), { ...listing(), client });
  finding.listed(senderOf("codex", { connected: {} }), { ...listing(), client: clientProfiles["codex-mcp-client"] });
  const { sessions } = await report();
  expect(sessions).toMatchObject({ count: 3, unknown: [{ client: "claude-code", sessions: 2 }] });
  expect(sessions.medianNet).toBe(sessions.worstNet);
});

test("a session is a connection, or a program of a person until it was silent for half an hour", async () => {
  const clock = createManualClock();
  const { finding } = open(clock);
  const count = () => finding.sessions().length;
  const connected = { id: "1" };
  for (let at = 0; at < 3; at += 1) finding.listed(senderOf("a", { connected }), listing());
  expect(count()).toBe(1);
  for (let at = 0; at < 3; at += 1) finding.listed(senderOf("a"), listing());
  expect(count()).toBe(2);
  finding.listed(senderOf("b"), listing());
  finding.listed(senderOf("a", { principal: localPrincipal }), listing());
  expect(count()).toBe(4);
  await clock.advance(1_700_000);
  finding.answered(senderOf("a"), "still there");
  await clock.advance(1_700_000);
  finding.listed(senderOf("a"), listing());
  expect(count()).toBe(4);
  await clock.advance(1_900_000);
  finding.listed(senderOf("a"), listing());
  finding.listed(senderOf("a", { connected }), listing());
  expect(count()).toBe(5);
  finding.listed(senderOf("c"), listing(large, createServerExposure("files")));
  expect(count()).toBe(5);
});

test("spending is told of today, and of whoever is asked for", async () => {
  const clock = createManualClock();
  await clock.advance(dayMs / 2);
  const { finding, report } = open(clock);
  finding.answered(senderOf("a"), "one two three");
  finding.answered(senderOf("a", { principal: localPrincipal }), "four");
  expect((await report()).spentOnFinding).toMatchObject({ answers: 2, sinceMs: dayMs / 2 });
  expect((await report("local")).spentOnFinding).toMatchObject({ answers: 1, tokens: estimateTokens("four") });
  await clock.advance(dayMs);
  expect((await report()).spentOnFinding).toMatchObject({ answers: 0, tokens: 0, sinceMs: dayMs });
  finding.answered(senderOf("a"), "five");
  expect((await report()).spentOnFinding).toMatchObject({ answers: 1, sinceMs: dayMs });
});

test("no more sessions are remembered than a thousand, the newest", async () => {
  const { finding } = open(createManualClock());
  for (let at = 0; at < 2_500; at += 1) finding.listed(senderOf(`client ${at}`, { connected: {} }), listing());
  const remembered = finding.sessions();
  expect(remembered).toHaveLength(1_000);
  expect(remembered.at(-1)?.client).toBe("client 2499");
  await settle();
});
