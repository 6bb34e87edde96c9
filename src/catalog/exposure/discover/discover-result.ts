import { stringifyExact } from "../../../wire/json/exact-json.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { InstanceStatus } from "../../../kernel/status-words.ts";
import { withoutPhrases } from "../../../kernel/call/tool-phrases.ts";
import { cutAtWord, plainDescription, shortDescription } from "../text/discover-description.ts";
import { isWithin, leanSchema } from "./discover-schema.ts";
import { requiredNotes, printWithin, readArguments, toOutputNote } from "../text/signature.ts";
import type { Shape } from "../text/signature-schema.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { escapeHidden } from "../text/visible-text.ts";
import type { TransportKind } from "../../../config/entry/transports.ts";

export type Detail = "names" | "signature" | "schema";

/** One tool that a search found. */
export interface DiscoverHit {
  readonly tool: ToolEntry;
  readonly serverTitle: string;
  readonly transport: TransportKind;
  /** 0 is a perfect match, 1 is none. */
  readonly distance: number;
  /** Shown when the server is neither online nor dormant, because a call would then wait or fail. */
  readonly status?: InstanceStatus | "dormant";
  /** Whether each call waits for a person's yes: a model plans otherwise then. */
  readonly asks?: boolean;
  /** Whether it is marked as one to call with execute_read_only_mcp_tool. */
  readonly readOnly?: boolean;
}

/** One result as text, at the size that was asked for. */
export interface ResultText {
  readonly json: string;
  readonly tokens: number;
  /** Whether something was left out that `detail: "schema"` would show. */
  readonly cut: boolean;
}

/** Writes the text of one result at any of a few sizes. Expensive steps are done once. */
export interface ResultPrinter {
  readonly path: string;
  print(size: ResultSize): ResultText;
}

/** How far a result is shortened. 0 is its full size. */
export interface ResultSize {
  readonly description: 0 | 1 | 2;
  readonly input: 0 | 1 | 2;
}

/**
 * Tokens of description and signature together, and the minimum of each. Chosen on 1,478 real tools so that a result
 * costs at most 70 tokens at the median and 130 at the 90th percentile; path, server and keys take about 35.
 */
const budgets = {
  together: 100,
  description: [34, 14, 7],
  signature: [80, 40, 22],
  output: [24, 12, 0],
  note: 40,
  meta: 120,
} as const;
const schemaBudgets = { description: [400, 40, 14], signature: 60, output: 60, meta: 600 } as const;
const serverNameTokens = 12;

export interface PrinterOptions {
  readonly detail: Detail;
  /** Whether required parameters are explained, which is done for the first results. */
  readonly noted: boolean;
}

/** Prepares the text of one result. `noted` adds a note on required parameters. */
export function createResultPrinter(hit: DiscoverHit, { detail, noted }: PrinterOptions): ResultPrinter {
  const path = hit.tool.path;
  if (detail === "names") {
    const names = finish({ tool_path: path }, false);
    return { path, print: () => names };
  }
  if (detail === "signature") return { path, print: (size) => printRemembered(hit, size, noted) };
  const shape = readArguments(hit.tool.definition.inputSchema);
  return { path, print: (size) => printSchemaResult(hit, shape, size) };
}

/** A result's text before and after its score, the only part that differs from one search to the next. */
interface Remembered {
  readonly before: string;
  readonly after: string;
  /**
   * Cost with a score of 0 or 1, and with any other: the digits behind the decimal point are one token, however many
   * they are.
   */
  readonly wholeTokens: number;
  readonly partTokens: number;
  readonly cut: boolean;
}

/** Texts kept per tool: with and without its note, shortened once or twice. */
const textsPerTool = 6;
const remembered = new WeakMap<ToolEntry, Map<string, Remembered>>();
const scoreKey = ',"relevance_score":';

/**
 * Writing the results takes half of a search's time, so that each text is written once per tool, size and state of
 * its server.
 */
function printRemembered(hit: DiscoverHit, size: ResultSize, noted: boolean): ResultText {
  const key = `${size.description}${size.input}${noted} ${hit.transport} ${hit.status} ${hit.asks} ${hit.readOnly} ${hit.serverTitle}`;
  let texts = remembered.get(hit.tool);
  if (texts === undefined) remembered.set(hit.tool, (texts = new Map()));
  let text = texts.get(key);
  if (text === undefined) {
    if (texts.size >= textsPerTool) texts.clear();
    texts.set(key, (text = toRemembered(hit, size, noted)));
  }
  const score = roundScore(hit.distance);
  const tokens = Number.isInteger(score) ? text.wholeTokens : text.partTokens;
  return { json: `${text.before}${score}${text.after}`, tokens, cut: text.cut };
}

function toRemembered(hit: DiscoverHit, size: ResultSize, noted: boolean): Remembered {
  const shape = readArguments(hit.tool.definition.inputSchema);
  const whole = printSignatureResult({ ...hit, distance: 0 }, shape, size, noted);
  const part = printSignatureResult({ ...hit, distance: 0.5 }, shape, size, noted);
  // A server's text cannot contain this key, because its quotation marks are escaped.
  const at = whole.json.indexOf(`${scoreKey}0`) + scoreKey.length;
  return {
    before: whole.json.slice(0, at),
    after: whole.json.slice(at + 1),
    wholeTokens: whole.tokens,
    partTokens: part.tokens,
    cut: whole.cut,
  };
}

function printSignatureResult(hit: DiscoverHit, shape: Shape, size: ResultSize, noted: boolean): ResultText {
  const { definition } = hit.tool;
  const input = printWithin(shape, budgets.signature[size.input]);
  const output = toOutputNote(definition.outputSchema, budgets.output[size.input]);
  const room = Math.max(budgets.description[1], budgets.together - estimateTokens(input.text + output));
  const description = shortDescription(descriptionOf(hit), Math.min(budgets.description[size.description], room));
  const note = noted && size.description === 0 ? requiredNotes(definition.inputSchema, budgets.note) : undefined;
  const meta = metaOf(hit, budgets.meta);
  const cut = input.cut || meta.cut;
  return finish(
    {
      ...headOf(hit, description.text),
      input: input.text + output,
      ...(note === undefined ? {} : { note }),
      ...(meta.value === undefined ? {} : { _meta: meta.value }),
      ...(cut ? { cut } : {}),
      ...flaggedWhen(description.flagged),
    },
    cut || description.text.endsWith("…"),
  );
}

function printSchemaResult(hit: DiscoverHit, shape: Shape, size: ResultSize): ResultText {
  const { definition } = hit.tool;
  const text = descriptionOf(hit);
  const limit = schemaBudgets.description[size.description];
  const plain = plainDescription(text);
  const description = estimateTokens(plain.text) <= limit ? plain : shortDescription(text, limit);
  const meta = metaOf(hit, schemaBudgets.meta);
  const schemas = schemasOf(definition, size.input);
  const isWhole = (["inputSchema", "outputSchema"] as const).every((key) => schemas[key] === definition[key]);
  const cut = size.input > 0 || meta.cut || !isWhole;
  const input = printWithin(shape, size.input === 2 ? schemaBudgets.signature * 4 : schemaBudgets.signature);
  return finish(
    {
      ...headOf(hit, description.text),
      input: input.text + toOutputNote(definition.outputSchema, schemaBudgets.output),
      ...schemas,
      ...annotationsOf(definition),
      ...(meta.value === undefined ? {} : { _meta: meta.value }),
      ...(cut ? { cut } : {}),
      ...flaggedWhen(description.flagged),
    },
    cut || description.text.endsWith("…"),
  );
}

/** Levels of a schema that are written unchanged: twice what a request may nest. */
const writableDepth = 128;

function schemasOf({ inputSchema, outputSchema }: ToolEntry["definition"], size: 0 | 1 | 2): JsonObject {
  if (size === 2) return {};
  const asWritten = (schema: JsonObject): JsonObject =>
    size === 1 || !isWithin(schema, writableDepth) ? leanSchema(schema) : schema;
  return {
    inputSchema: asWritten(inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: asWritten(outputSchema) }),
  };
}

/** The hints that MCP names, and anything else in the annotations as long as it is short. */
function annotationsOf({ annotations }: ToolEntry["definition"]): JsonObject {
  if (!isJsonObject(annotations)) return {};
  if (estimateTokens(JSON.stringify(annotations)) <= 150) return { annotations };
  const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].filter(
    (hint) => typeof annotations[hint] === "boolean",
  );
  return { annotations: Object.fromEntries(hints.map((hint) => [hint, annotations[hint]])) };
}

function headOf(hit: DiscoverHit, description: string): JsonObject {
  const starting = hit.status !== undefined && hit.status !== "online" && hit.status !== "dormant";
  return {
    tool_path: hit.tool.path,
    description,
    server_name: cutAtWord(plainDescription(hit.serverTitle).text, serverNameTokens),
    transport: hit.transport,
    relevance_score: roundScore(hit.distance),
    ...(starting ? { status: hit.status } : {}),
    ...(hit.readOnly === true ? { readOnly: true } : {}),
    ...(hit.asks === true ? { asks: true } : {}),
  };
}

function descriptionOf({ tool }: DiscoverHit): string {
  const { description, title, annotations } = tool.definition;
  for (const text of [description, title, annotations?.title])
    if (typeof text === "string" && text.trim() !== "") return text;
  return tool.upstreamName;
}

function roundScore(distance: number): number {
  return Number.isFinite(distance) ? Math.round(Math.min(1, Math.max(0, distance)) * 1000) / 1000 : 1;
}

function flaggedWhen(flagged: boolean): JsonObject {
  return flagged ? { flagged: "hidden characters removed" } : {};
}

function finish(result: JsonObject, cut: boolean): ResultText {
  const json = escapeHidden(stringifyExact(result));
  return { json, tokens: estimateTokens(json) + 1, cut };
}

/**
 * The tool's `_meta`, with the app's resource under the URI that can be read here. Only the part for apps when all of
 * it would be too long.
 */
function metaOf(
  { tool }: DiscoverHit,
  maxTokens: number,
): { readonly value: JsonObject | undefined; readonly cut: boolean } {
  const { _meta } = tool.definition;
  const meta = isJsonObject(_meta) ? withoutPhrases(_meta) : {};
  if (Object.keys(meta).length === 0) return { value: undefined, cut: false };
  const value = withReadableUi(meta, tool.server);
  if (estimateTokens(JSON.stringify(value)) <= maxTokens) return { value, cut: false };
  const ui = uiUriOf(value);
  return { value: ui === undefined ? undefined : { ui: { resourceUri: ui } }, cut: true };
}

const flatUiKey = "ui/resourceUri";

function withReadableUi(meta: JsonObject, server: string): JsonObject {
  const copy: Record<string, unknown> = { ...meta };
  const ui = meta["ui"];
  if (isJsonObject(ui) && typeof ui["resourceUri"] === "string")
    copy["ui"] = { ...ui, resourceUri: `${server}|${ui["resourceUri"]}` };
  if (typeof meta[flatUiKey] === "string") copy[flatUiKey] = `${server}|${meta[flatUiKey]}`;
  return copy;
}

function uiUriOf(meta: JsonObject): string | undefined {
  const ui = meta["ui"];
  const uri = isJsonObject(ui) ? ui["resourceUri"] : meta[flatUiKey];
  return typeof uri === "string" && uri.length <= 500 ? uri : undefined;
}
