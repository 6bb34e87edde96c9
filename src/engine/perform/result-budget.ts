import { toKeptUri } from "../../catalog/exposure/kept-uri.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import { withMetaEntries } from "../../wire/json/spliced-json.ts";
import { leastClientTokens } from "../../config/rows/client-profiles.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { countText } from "../../kernel/text/number-text.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Slices } from "../../kernel/runtime/slices.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { ServerAnswer } from "../calls/server-call.ts";
import { planCut, writeCut, type Cut, type StructuredRule } from "../results/cut-result.ts";
import type { KeptResults } from "../results/kept-results.ts";
import { findOversized, type Oversized } from "../results/oversized.ts";
import type { ShortenedArray } from "../results/shorter-json.ts";
import type { Validators, Verdict } from "../validation/validators.ts";
import type { Outcome, Work } from "./work.ts";
import { clientNameOf } from "../../kernel/client-presence.ts";

/**
 * Shortens an answer that is larger than a model should read. Runs after the intent was carried out, so that every
 * front returns the same, and before the record ends, so that the record shows what was returned. An outcome within
 * the budget is returned unchanged.
 */
export type ResultBudgetStage = (intent: Intent, work: Work, outcome: Outcome) => Outcome | Promise<Outcome>;

export interface ResultBudgetDeps {
  /** `results.maxTokens` and `results.keepMs` in force. */
  readonly settings: () => { readonly maxTokens: number; readonly keepMs: number };
  readonly instanceOf: (id: InstanceId) => Instance | undefined;
  /** The most that a client of that name gives its model; undefined where that is not known. */
  readonly clientLimit: (name: string | undefined) => number | undefined;
  readonly keptResults: Pick<KeptResults, "keep">;
  /** Where work on large results is done. */
  readonly slices: Slices;
  /** Checks the rest of a structured result; see `calls/results/result-check.ts` for the key. */
  readonly validators: Pick<Validators, "verdict">;
}

/** Where programs find that a result was cut, and where its rest is. */
const cutKey = "toolyard/cut";

type LargeIntent = Extract<Intent, { kind: "call" | "read" }>;
type Result = Extract<ServerAnswer, { kind: "result" }>;

export function createResultBudgetStage(deps: ResultBudgetDeps): ResultBudgetStage {
  return (intent, work, outcome) => {
    if (outcome.kind !== "result" || outcome.result.isQuestion || !isReadByModel(intent, work.context)) return outcome;
    const { length } = outcome.result.bytes;
    const maxTokens = budgetOf(deps, { intent, context: work.context, length });
    // No token has less than a byte: nearly every result is let through here.
    if (maxTokens === 0 || length <= maxTokens) return outcome;
    return cutWhereLarge(deps, { intent, work, outcome, maxTokens });
  };
}

/**
 * A tool's result, and a resource that is read with a tool. What a program asks for natively, over REST or of a
 * server that is shown as it is, it gets whole.
 */
function isReadByModel(intent: Intent, context: CallContext): intent is LargeIntent {
  if (context.transparent === true || context.forProgram === true) return false;
  return intent.kind === "call" || (intent.kind === "read" && intent.as === "tool");
}

interface Asked {
  readonly intent: LargeIntent;
  readonly context: CallContext;
  /** Of the result, in bytes. */
  readonly length: number;
}

/**
 * The call's own limit goes before that of the server's entry, and that before the setting. A client with a lower limit
 * lowers it: it would drop the rest itself, where no one can read it. 0: no limit.
 */
function budgetOf({ settings, instanceOf, clientLimit }: ResultBudgetDeps, { intent, context, length }: Asked): number {
  const asked = context.maxResultTokens;
  if (asked !== undefined) return asked;
  const id = intent.kind === "call" ? intent.instance : intent.server.instance;
  const ofServer = instanceOf(id)?.server.maxResultTokens;
  if (ofServer !== undefined) return ofServer;
  const { maxTokens } = settings();
  if (maxTokens === 0 || length <= leastClientTokens) return maxTokens;
  return Math.min(maxTokens, clientLimit(clientNameOf(context)) ?? maxTokens);
}

interface Measured {
  readonly intent: LargeIntent;
  readonly work: Work;
  readonly outcome: Result;
  readonly maxTokens: number;
}

interface CutWork extends Measured {
  readonly large: Oversized;
}

async function cutWhereLarge(deps: ResultBudgetDeps, measured: Measured): Promise<Outcome> {
  const { intent, outcome, maxTokens } = measured;
  const listName = intent.kind === "call" ? "content" : "contents";
  const large = await deps.slices.run(findOversized(outcome.result, listName, maxTokens));
  return large === undefined ? outcome : await cut(deps, { ...measured, large });
}

async function cut(deps: ResultBudgetDeps, todo: CutWork): Promise<Outcome> {
  const { intent, work, large, maxTokens } = todo;
  const { slices } = deps;
  const plan = async (rule: StructuredRule): Promise<Cut> => await slices.run(planCut(large, maxTokens, rule));
  const schema = intent.kind === "call" ? intent.tool.definition.outputSchema : undefined;
  // The schema binds clients that were shown it; no other expects structured content.
  if (schema === undefined || work.context.sawDefinitions !== true || large.texts.structured === undefined)
    return finish(deps, todo, await plan("leave out"));
  const shorter = await plan("shorten");
  const key = intent.kind === "call" ? `${intent.tool.hash}.output` : "";
  const verdict = deps.validators.verdict(key, schema);
  // A client that checks results refuses one without structured content. It stays whole, and the text is cut.
  return finish(deps, todo, fits(verdict, shorter) ? shorter : await plan("keep"));
}

function fits(verdict: Verdict, { structured }: Cut): boolean {
  if (structured === undefined) return true;
  if (verdict === "unvalidated") return true;
  return verdict.check(JSON.parse(structured.toString("utf8"))) === undefined;
}

function finish(deps: ResultBudgetDeps, { intent, work, outcome, large }: CutWork, plan: Cut): Outcome {
  const id = deps.keptResults.keep(work.context.principal.id, plan.kept);
  const parts = plan.kept.starts.length;
  const note = noteOf({ large, plan, id, parts, keepMs: deps.settings().keepMs, context: work.context });
  const written = writeCut(large, plan, { text: note, uri: intent.kind === "read" ? intent.uri : undefined });
  const marked = withMetaEntries(written, {
    [cutKey]: { uri: toKeptUri(id), parts, tokens: large.tokens, shownTokens: plan.shownTokens },
  });
  return { ...outcome, result: outcome.result.with(marked), cutTokens: large.tokens - plan.shownTokens };
}

interface NoteFacts {
  readonly large: Oversized;
  readonly plan: Cut;
  readonly id: string;
  readonly parts: number;
  readonly keepMs: number;
  readonly context: CallContext;
}

/**
 * What the model is told: how much it sees, and how it gets at the rest. It comes first, because clients that show
 * their models only a part of a result leave out its end, its middle or its later blocks, and none its beginning.
 */
function noteOf({ large, plan, id, parts, keepMs, context }: NoteFacts): string {
  const first = plan.kept.isBeginningShown ? 2 : 1;
  const next = toKeptUri(id, { kind: "part", part: first });
  const lines = `${toKeptUri(id)}?match=WORD`;
  const how = context.sawDefinitions === true ? "Read the resource" : "Read on with read_mcp_resource and the uri";
  return [
    `Note from Toolyard: this result was cut. Below are about ${countText(plan.shownTokens)} of its ` +
      `${countText(large.tokens)} tokens${arraysText(plan.arrays)}.`,
    `${how} ${next}${first < parts ? ` (parts ${first} to ${parts})` : ""}, or ${lines} for the lines that ` +
      "contain a word.",
    // Clients put blocks together, some with nothing between them: a number that follows must not become part of it.
    `The rest is kept for ${timeText(keepMs)}.\n`,
  ].join(" ");
}

/** Rounded down, so that no reader comes too late; below two minutes in seconds, of which there is at least one. */
function timeText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds >= 120) return `${Math.floor(seconds / 60)} minutes`;
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}

function arraysText(arrays: readonly ShortenedArray[]): string {
  if (arrays.length === 0) return "";
  const shown = arrays.slice(0, 3).map(({ path, kept, of }) => `${kept} of ${of} elements of ${path || "the array"}`);
  return ` (${shown.join(", ")}${arrays.length > 3 ? ", and others" : ""})`;
}
