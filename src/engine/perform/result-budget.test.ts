import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleView } from "../../../test/sample-view.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { parseKeptUri } from "../../catalog/exposure/kept-uri.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import { noArguments, type CallContext } from "../../kernel/call/call-context.ts";
import { atOnce } from "../../../test/harness/at-once.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { createSpillFiles } from "../../store/files/file-store.ts";
import { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import { readPage } from "../results/kept-page.ts";
import { createKeptResults, type KeptResults } from "../results/kept-results.ts";
import { createRuntime } from "../validation/runtime.ts";
import { toValidator } from "../validation/validators.ts";
import type { Outcome } from "./work.ts";
import { createResultBudgetStage, type ResultBudgetDeps } from "./result-budget.ts";

const rowsSchema = (more: object = {}) => ({
  type: "object" as const,
  properties: { rows: { type: "array", ...more } },
  required: ["rows"],
});
const catalog = sampleInstance("srv", [
  { name: "plain" },
  { name: "shaped", outputSchema: rowsSchema() },
  { name: "exact", outputSchema: rowsSchema({ minItems: 500 }) },
  { name: "odd", outputSchema: { type: "object", $dynamicRef: "#x" } },
]);
const view = sampleView([catalog]);
const lines = Array.from({ length: 3_000 }, (_, n) => `${n}: a line of a log file\n`).join("");
const rows = Array.from({ length: 500 }, (_, id) => ({ id, title: `issue number ${id}` }));
const structured = { content: [{ type: "text", text: JSON.stringify({ rows }) }], structuredContent: { rows } };

let kept: KeptResults;
let keepMs: number;
beforeEach(() => {
  keepMs = 600_000;
  kept = createKeptResults({
    files: createSpillFiles("/nonexistent/toolyard-results", () => undefined),
    clock: createManualClock(),
    limits: () => ({ keepMs, memoryBytes: 10_000_000, diskBytes: 0 }),
  });
});
afterEach(async () => await kept[Symbol.asyncDispose]());

function callOf(name: string): Intent {
  const tool = catalog.tools.find(({ upstreamName }) => upstreamName === name);
  if (tool === undefined) throw new Error(`the sample has no tool ${name}`);
  return { kind: "call", instance: catalog.instance, tool, arguments: noArguments, warning: undefined };
}

function readOf(as: "tool" | "native"): Intent {
  const [server] = view.servers;
  if (server === undefined) throw new Error("the sample has no server");
  return { kind: "read", server, uri: "file:///log", as };
}

interface Situation {
  readonly intent?: Intent;
  readonly context?: Partial<CallContext>;
  readonly setting?: number;
  readonly ofServer?: number;
  /** Of the client `small`. */
  readonly ofClient?: number;
  readonly outcome?: Outcome;
}

const runtime = createRuntime(() => performance.now(), 10_000);
const verdict: ResultBudgetDeps["validators"]["verdict"] = (_key, schema) => toValidator(schema, runtime);

const outcomeOf = (result: object): Outcome => ({
  kind: "result",
  result: new ResultBytes(Buffer.from(JSON.stringify(result)), result as never),
});

/** What becomes of an outcome; by default of a log that a plain tool gives, with a limit of 1,000 tokens. */
async function budget(result: object, situation: Situation = {}) {
  const {
    intent = callOf("plain"),
    context,
    setting = 1_000,
    ofServer,
    ofClient,
    outcome = outcomeOf(result),
  } = situation;
  const stage = createResultBudgetStage({
    settings: () => ({ maxTokens: setting, keepMs }),
    instanceOf: (id: InstanceId) =>
      id === catalog.instance ? ({ server: { maxResultTokens: ofServer } } as never) : undefined,
    clientLimit: (name) => (name === "small" ? ofClient : undefined),
    keptResults: kept,
    slices,
    validators: { verdict },
  });
  const asked: CallContext = {
    principal: localPrincipal,
    signal: new AbortController().signal,
    client: { era: "legacy", revision: "2025-11-25", capabilities: {} },
    via: "http",
    waitedMs: 0,
    ...context,
  };
  const after = await stage(intent, { context: asked, view }, outcome);
  if (after.kind !== "result") return { after, isCut: after !== outcome, written: undefined, cutTokens: 0 };
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever came out
  const written = JSON.parse(after.result.bytes.toString("utf8")) as any;
  return { after, isCut: after !== outcome, written, cutTokens: after.cutTokens ?? 0 };
}

const log = { content: [{ type: "text", text: lines }] };
const client: CallContext["client"] = { era: "legacy", revision: "2025-11-25", capabilities: {}, name: "small" };
const small = { context: { client } };
const noteOf = (written: { content: { text: string }[] }): string => written.content[0]?.text ?? "";

describe("a result is cut to a limit", () => {
  test("and what is counted as kept back is what the client was not shown", async () => {
    const { written, cutTokens } = await budget(log);
    const { tokens, shownTokens } = written._meta["toolyard/cut"];
    expect(tokens).toBe(estimateTokens(lines));
    expect(shownTokens).toBe(estimateTokens(written.content[1].text));
    expect(shownTokens).toBeLessThan(1_000);
    expect(cutTokens).toBe(tokens - shownTokens);
  });

  test.each<[string, Situation, boolean]>([
    ["the setting", { setting: 100_000 }, false],
    ["the server's entry before the setting", { setting: 1_000, ofServer: 100_000 }, false],
    ["the server's entry, also where it is the smaller one", { setting: 100_000, ofServer: 1_000 }, true],
    ["the call before both", { setting: 1_000, ofServer: 1_000, context: { maxResultTokens: 100_000 } }, false],
    ["the call, also where the server has no limit", { ofServer: 0, context: { maxResultTokens: 1_000 } }, true],
    ["the client where that is less than the setting", { ...small, setting: 100_000, ofClient: 1_000 }, true],
    ["the setting where the client takes more", { ...small, setting: 1_000, ofClient: 100_000 }, true],
    ["no other client", { setting: 100_000, ofClient: 1_000 }, false],
    ["the server's entry before the client", { ...small, ofServer: 100_000, ofClient: 1_000 }, false],
    ["the call before the client", { context: { ...small.context, maxResultTokens: 0 }, ofClient: 1_000 }, false],
    ["none, which 0 means in the setting, for every client", { ...small, setting: 0, ofClient: 1_000 }, false],
    ["none, which 0 means in the setting", { setting: 0 }, false],
    ["none, which 0 means in the server's entry", { ofServer: 0 }, false],
    ["none, which 0 means in the call", { context: { maxResultTokens: 0 } }, false],
  ])("of %s", async (_which, situation, isCut) => {
    expect((await budget(log, situation)).isCut).toBe(isCut);
  });

  test.each<[string, Situation]>([
    ["a program", { context: { forProgram: true } }],
    ["a client that is shown the server as it is", { context: { transparent: true } }],
    ["a client that reads a resource natively", { intent: readOf("native") }],
    ["a client that is asked something", { outcome: outcomeOf({ resultType: "input_required", ...log }) }],
    ["a client that is given an error", { outcome: { kind: "error", error: Buffer.from(JSON.stringify(log)) } }],
  ])("but not for %s", async (_who, situation) => {
    expect((await budget(log, situation)).isCut).toBe(false);
    expect(kept.figures.results).toBe(0);
  });

  test("also where a model reads a resource with the tool, with the note as a content under its URI", async () => {
    const contents = [{ uri: "file:///log", mimeType: "text/x-log", text: lines }];
    const { written } = await budget({ contents }, { intent: readOf("tool") });
    expect(written.content).toBeUndefined();
    expect(written.contents[1].mimeType).toBe("text/x-log");
    expect(written.contents[0]).toMatchObject({ uri: "file:///log", mimeType: "text/plain" });
    expect(written.contents[0].text).toContain("this result was cut");
  });

  test("and stays an error, with all that it says beside its texts", async () => {
    const { written } = await budget({ ...log, isError: true, _meta: { "a/b": 1 }, other: [1.5] });
    expect(written).toMatchObject({ isError: true, other: [1.5], _meta: { "a/b": 1, "toolyard/cut": {} } });
  });
});

describe("the note of a cut result", () => {
  test("leads to the rest, which begins where the shown text ends", async () => {
    const { written } = await budget(log);
    const uri = /toolyard:\S+\?part=2/.exec(noteOf(written))?.[0] ?? "";
    const found = parseKeptUri(uri);
    if (found === undefined) throw new Error("it names no part");
    const text = await kept.read(localPrincipal.id, found.id);
    if (text === undefined) throw new Error("it is not kept");
    const next = atOnce(readPage(text, found.page)).text;
    expect(lines.startsWith(`${written.content[1].text}${next}`)).toBe(true);
    const { parts, uri: named } = written._meta["toolyard/cut"];
    expect(noteOf(written)).toContain(`(parts 2 to ${parts})`);
    expect(uri).toBe(`${named}?part=2`);
    expect(atOnce(readPage(text, { kind: "part", part: parts })).next).toBeUndefined();
  });

  test("names the tool that reads it to a model that has the meta tools, and the resource to one that has not", async () => {
    expect(noteOf((await budget(log)).written)).toContain("read_mcp_resource");
    const shown = noteOf((await budget(log, { context: { sawDefinitions: true } })).written);
    expect(shown).not.toContain("read_mcp_resource");
    expect(shown).toContain("Read the resource toolyard://result/");
  });

  test.each([
    [600_000, "10 minutes"],
    [179_999, "2 minutes"],
    [90_000, "90 seconds"],
    [20_000, "20 seconds"],
    [1_000, "1 second"],
  ])("says for how long the rest is kept: %d ms are %s", async (ms, said) => {
    keepMs = ms;
    // The line ends: some clients put the next block right behind it.
    expect(noteOf((await budget(log)).written).endsWith(`The rest is kept for ${said}.\n`)).toBe(true);
  });

  test("begins at the first part where what is shown is no beginning of what is kept", async () => {
    const { written } = await budget(structured, { intent: callOf("shaped"), context: { sawDefinitions: true } });
    expect(noteOf(written)).toContain("?part=1 (parts 1 to ");
  });
});

describe("structured content that is too large", () => {
  const seen = { context: { sawDefinitions: true } };

  test("is left out for a client that was never shown its schema", async () => {
    const { written } = await budget(structured, { intent: callOf("shaped") });
    expect(written).not.toHaveProperty("structuredContent");
  });

  test("is left out where the tool has no schema, whatever the client was shown", async () => {
    expect((await budget(structured, seen)).written).not.toHaveProperty("structuredContent");
  });

  test("has fewer elements for a client that was shown its schema, and the note counts them", async () => {
    const { written } = await budget(structured, { intent: callOf("shaped"), ...seen });
    const { length } = written.structuredContent.rows;
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(rows.length);
    expect(written.structuredContent.rows).toEqual(rows.slice(0, length));
    expect(JSON.parse(written.content[1].text)).toEqual(written.structuredContent);
    expect(noteOf(written)).toContain(`(${length} of 500 elements of rows)`);
  });

  test("stays whole where fewer elements would not fit the schema, and only the text is cut", async () => {
    const { written } = await budget(structured, { intent: callOf("exact"), ...seen });
    expect(written.structuredContent).toEqual({ rows });
    expect(written.content[1].text.length).toBeLessThan(structured.content[0]?.text.length ?? 0);
    expect(noteOf(written)).not.toContain("elements of");
  });

  test("has fewer elements also where the schema cannot be checked", async () => {
    const { written } = await budget(structured, { intent: callOf("odd"), ...seen });
    expect(written.structuredContent.rows.length).toBeLessThan(rows.length);
  });

  test("with many arrays has three of them named, and the others mentioned", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const structuredContent = { rows: [], ...Object.fromEntries(names.map((name) => [name, rows])) };
    const { written } = await budget({ content: [], structuredContent }, { intent: callOf("shaped"), ...seen });
    expect(noteOf(written).match(/of 500 elements of \w/g)).toHaveLength(3);
    expect(noteOf(written)).toContain(", and others)");
  });
});
