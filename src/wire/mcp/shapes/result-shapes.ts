import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { ExactNumber, parseExact } from "../../json/exact-json.ts";
import { contentBlock, contentsOf, promptMessages, toJson, blockRevisions, toTextBlock } from "./content-shapes.ts";
import { modernRevision } from "../revisions.ts";
import {
  flag,
  isObject,
  listOf,
  numberWithin,
  objectOf,
  oneOf,
  serverMeta,
  text,
  wrongKind,
  type Notes,
  type Shape,
} from "./shape.ts";
import { isOwnName } from "./own-names.ts";
import { spliceJson } from "../../json/spliced-json.ts";
import { ResultBytes } from "../result-bytes.ts";

/** Of `_meta` of a result, what has values that older clients check. */
const checkedMeta: Readonly<Record<string, Shape>> = {
  progressToken: (value, notes) => (typeof value === "string" ? value : wholeNumber(value, notes)),
  "io.modelcontextprotocol/related-task": objectOf({ taskId: text }, "taskId"),
};
const metaMembers = objectOf(checkedMeta);
const meta: Shape = (value, notes) => {
  const members = metaMembers(value, notes);
  return members === undefined ? undefined : serverMeta(members, notes);
};
/** Whether nothing in `_meta` of a result, which may be absent, is looked at by its shape. */
export function isPlainMeta(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  for (const name in value) if (name in checkedMeta || isOwnName(name)) return false;
  return true;
}
const wholeNumber = numberWithin(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, true);
const anyResult = { _meta: meta, resultType: text } as const satisfies Record<string, Shape>;

/** Programs in other languages write flags as texts and numbers, and a failure must not look like a success. */
const errorFlag: Shape = (value, notes) => {
  if (flag(value, notes) !== undefined) return value;
  return value === "true" || value === 1 ? true : undefined;
};

const callMembers: Shape = objectOf({ ...anyResult, isError: errorFlag });
/** The members of a result that are not the tool's output. */
const notSaid: ReadonlySet<string> = new Set(["content", "isError", "structuredContent", "_meta", "resultType"]);

/**
 * What a tool returned (2026-07-28, schema, CallToolResult). Where `content` has nothing, it is made of what the tool
 * said elsewhere, because models see nothing else.
 */
function callResult(value: unknown, notes: Notes): unknown {
  const members = callMembers(value, notes);
  if (!isObject(members)) return undefined;
  const result = withoutNull(members, notes);
  const structured = result["structuredContent"];
  if (structured !== undefined && !isObject(structured)) notes.needing(modernRevision);
  const content = result["content"];
  if (Array.isArray(content) && (content.length > 0 || structured === undefined)) {
    const blocks = notes.at("content", contentBlocks, content);
    return blocks === content ? result : { ...result, content: blocks };
  }
  return { ...result, content: notes.at("content", (given) => contentFrom(given, result, notes), content) };
}

const contentBlocks: Shape = listOf(contentBlock);

/** Only modern servers, which say what their results are, mean a value by null. */
function withoutNull(result: JsonObject, notes: Notes): JsonObject {
  if (result["structuredContent"] !== null || result["resultType"] !== undefined) return result;
  notes.at("structuredContent", wrongKind, null);
  const { structuredContent: _absent, ...others } = result;
  return others;
}

function contentFrom(given: unknown, result: JsonObject, notes: Notes): readonly unknown[] {
  const isAbsent = given === undefined || given === null || Array.isArray(given);
  if (Array.isArray(given)) notes.odd("is empty");
  else wrongKind(given, notes);
  if (!isAbsent) return [contentBlock(given, notes)];
  const { structuredContent, toolResult } = result;
  // Of the first revision, any value (2024-10-07, schema, CallToolResult).
  if (toolResult !== undefined && toolResult !== null)
    return [{ type: "text", text: typeof toolResult === "string" ? toolResult : toJson(toolResult) }];
  if (structuredContent !== undefined) return [{ type: "text", text: toJson(structuredContent) }];
  const said = Object.entries(result).filter(([key]) => !notSaid.has(key));
  return said.length === 0 ? [] : [{ type: "text", text: toJson(Object.fromEntries(said)) }];
}

/** `ttlMs` and `cacheScope` mean something together only. */
const caching: Shape = (value, notes) => {
  const { ttlMs, cacheScope } = value as JsonObject;
  if (ttlMs === undefined && cacheScope === undefined) return value;
  const isWhole = notes.at("ttlMs", numberWithin(0, Number.MAX_SAFE_INTEGER, true), ttlMs) !== undefined;
  if (isWhole && notes.at("cacheScope", oneOf("public", "private"), cacheScope) !== undefined) return value;
  const { ttlMs: _ttl, cacheScope: _scope, ...others } = value as JsonObject;
  return others;
};

const readMembers: Shape = objectOf(anyResult);

/** What a resource has (2026-07-28, schema, ReadResourceResult). */
function readResult(uri: string): Shape {
  const one = contentsOf(uri);
  const all = listOf(one);
  return (value, notes) => {
    const members = readMembers(value, notes);
    if (!isObject(members)) return undefined;
    const result = caching(members, notes) as JsonObject;
    const { contents } = result;
    if (Array.isArray(contents)) {
      const kept = notes.at("contents", all, contents);
      return kept === contents ? result : { ...result, contents: kept };
    }
    notes.at("contents", wrongKind, contents);
    const isAbsent = contents === undefined || contents === null;
    return { ...result, contents: isAbsent ? [] : [notes.at("contents", one, contents)] };
  };
}

/** A prompt, filled in (2026-07-28, schema, GetPromptResult). */
const promptResult: Shape = objectOf({ ...anyResult, description: text, messages: promptMessages }, "messages");

const completionMembers: Shape = objectOf({ total: wholeNumber, hasMore: flag });
const mostValues = 100;

function completion(value: unknown, notes: Notes): unknown {
  const members = completionMembers(value, notes);
  if (!isObject(members)) return { values: [] };
  const { values } = members;
  if (!Array.isArray(values)) notes.at("values", wrongKind, values);
  const kept = Array.isArray(values) ? (notes.at("values", completionValues, values) as unknown[]) : [];
  return kept === values ? members : { ...members, values: kept };
}

function completionValues(value: unknown, notes: Notes): unknown {
  const values = value as readonly unknown[];
  if (values.length > mostValues) notes.odd(`has more than ${mostValues} items`);
  const few = values.length > mostValues ? values.slice(0, mostValues) : values;
  return listOf(completionValue)(few, notes);
}

/** What can be written in a form can be proposed for it. */
function completionValue(value: unknown, notes: Notes): unknown {
  if (text(value, notes) !== undefined) return value;
  return value === null || (typeof value === "object" && !(value instanceof ExactNumber)) ? undefined : toJson(value);
}

const completeResult: Shape = objectOf({ ...anyResult, completion }, "completion");

/** What every result has to be, also one that asks something, or is a task. */
export const anyShape: Shape = objectOf({ _meta: meta });

/**
 * What a method's result has to be, where clients check it; undefined for other methods. `about` is the address of a
 * resource that is read. Questions and tasks, which are not what the method returns, are never given to it.
 */
export function resultShape(method: string, about: string): Shape | undefined {
  switch (method) {
    case "tools/call":
    case "tasks/result":
      return callResult;
    case "resources/read":
      return readResult(about);
    case "prompts/get":
      return promptResult;
    case "completion/complete":
      return completeResult;
    default:
      return undefined;
  }
}

/** Whether a result is what its method returns. Questions and tasks are not. */
export function isValue({ resultType, task }: JsonObject): boolean {
  return !isObject(task) && (typeof resultType !== "string" || resultType === "complete");
}

/**
 * A result as clients of this revision can read it: a value that is no object is left out of it before 2026-07-28, and
 * blocks of types that came later are text. The same object where the revision can hold it, as nearly always.
 */
export function fitResult(result: ResultBytes, revision: string): ResultBytes {
  if (result.verdict === undefined || result.verdict.needs <= revision) return result;
  const given = parseExact(result.bytes.toString("utf8"));
  if (!isObject(given)) return result;
  const fitting = { ...given };
  const { content, messages, structuredContent } = given;
  if (Array.isArray(content)) fitting["content"] = eachOf(content, (block) => olderBlock(block, revision));
  if (Array.isArray(messages)) fitting["messages"] = eachOf(messages, (message) => olderMessage(message, revision));
  if (structuredContent !== undefined && !isObject(structuredContent) && revision < modernRevision) {
    delete fitting["structuredContent"];
    const blocks: readonly unknown[] = Array.isArray(fitting["content"]) ? fitting["content"] : [];
    if (!blocks.some((block) => isObject(block) && block["type"] === "text"))
      fitting["content"] = [...blocks, { type: "text", text: toJson(structuredContent) }];
  }
  return new ResultBytes(spliceJson(result.bytes, given, fitting));
}

function eachOf(list: readonly unknown[], fit: (item: unknown) => unknown): readonly unknown[] {
  const fitting = list.map(fit);
  return fitting.every((item, index) => item === list[index]) ? list : fitting;
}

function olderBlock(block: unknown, revision: string): unknown {
  const since = isObject(block) && typeof block["type"] === "string" ? blockRevisions[block["type"]] : undefined;
  return since !== undefined && since > revision ? toTextBlock(block) : block;
}

function olderMessage(message: unknown, revision: string): unknown {
  if (!isObject(message)) return message;
  const content = olderBlock(message["content"], revision);
  return content === message["content"] ? message : { ...message, content };
}
