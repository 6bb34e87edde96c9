import { setImmediate as nextTurn } from "node:timers/promises";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonBytes, JsonObject } from "../../../kernel/text/json-bytes.ts";
import { openBrace, quote } from "../../../wire/json/characters.ts";
import { JsonOutline, type ListedElement } from "../../../wire/json/json-outline.ts";
import { hasManyParts } from "../../../wire/json/json-parts.ts";
import { findMember, scanMembers, skipSpace, type Span } from "../../../wire/json/json-scan.ts";
import { checkJson } from "../../../wire/json/json-validity.ts";
import { ResultBytes, type Verdict } from "../../../wire/mcp/result-bytes.ts";
import { anyShape, resultShape } from "../../../wire/mcp/shapes/result-shapes.ts";
import { Notes } from "../../../wire/mcp/shapes/shape.ts";
import { faulty, tooManyBlocks, toVerdict, type ResultChecks, type ResultSubject } from "./result-faults.ts";

/**
 * A result that is too large to be parsed without need, checked by its skeleton: everything is parsed but its long
 * strings and its structured content. Undefined where it has to be parsed after all, because something is odd or has
 * very many parts, or because it concerns the gateway itself. Throws UPSTREAM_PROTOCOL if it is no JSON object, and
 * RESULT_TOO_LARGE.
 *
 * Works in several turns of the event loop: fifteen megabytes at once would delay all other requests (fault K).
 */
export async function judgeLarge(
  { what, method }: ResultSubject,
  result: JsonBytes,
  limits: ResultChecks,
): Promise<ResultBytes | undefined> {
  const list = listOf(method);
  const outline = await outlineOf(what, result, { list, limits });
  const { members, elements } = outline;
  if (!isOrdinary(result, outline)) return undefined;
  const seen = { members, elements: list === "content" ? elements : undefined };
  const shape = resultShape(method, what) ?? anyShape;
  if ((elements?.length ?? 0) > limits.contentBlocks) {
    if (method === "tools/call") throw tooManyBlocks(what, limits);
    return undefined;
  }
  const base64: Span[] = [];
  const skeleton = await skeletonOf({ result, base64 }, outline, list);
  if (skeleton === undefined) return undefined;
  const notes = new Notes();
  if (shape(skeleton, notes) !== skeleton) return undefined;
  for (const span of base64) if (!(await isPlainBase64(result, span))) return undefined;
  return new ResultBytes(result, undefined, seen, toVerdict(notes));
}

/** A result that has been mended, with where its parts are. */
export async function outlined(
  { what, method }: ResultSubject,
  result: JsonBytes,
  limits: ResultChecks,
  verdict: Verdict | undefined,
): Promise<ResultBytes> {
  const list = listOf(method);
  const { members, elements } = await outlineOf(what, result, { list, limits });
  return new ResultBytes(result, undefined, { members, elements: list === "content" ? elements : undefined }, verdict);
}

const listOf = (method: string): string => (Object.hasOwn(lists, method) ? (lists[method] as string) : "content");

/** What the results of methods are lists of. */
const lists: Readonly<Record<string, string>> = Object.freeze({
  "resources/read": "contents",
  "prompts/get": "messages",
});

/** What decides whether a content block is passed on as it is, and whether it is plain text. */
const noted = ["type", "text", "annotations", "_meta"];

const faults: { readonly [code: string]: string } = {
  BODY_TOO_DEEP: "nests too deeply",
  BODY_TOO_COMPLEX: "has more than 100,000 members",
};

/** Finds the parts, and checks that all of it is valid JSON, because it is not parsed later. */
async function outlineOf(
  what: string,
  result: JsonBytes,
  { list, limits }: { readonly list: string; readonly limits: ResultChecks },
): Promise<JsonOutline> {
  // One more than there may be, so that it is seen where there are too many.
  const outline = new JsonOutline(result, { list, names: noted, most: limits.contentBlocks + 1 });
  if (result[skipSpace(result, 0, result.length)] !== openBrace) throw faulty(what, "is no JSON object");
  const options = { outline, search: limits.textSearch() };
  try {
    for (const _slice of checkJson(result, limits.depth, options)) await nextTurn();
    return outline;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw faulty(what, faults[error.code] ?? "is no JSON object");
  }
}

/**
 * Whether the gateway only passes the result on. Questions and tasks concern the gateway itself, and are parsed
 * whatever their size (faults 48, 49).
 */
function isOrdinary(result: JsonBytes, { members }: JsonOutline): boolean {
  const type = findMember(members, "resultType");
  return (
    findMember(members, "task") === undefined &&
    (type === undefined || result.toString("latin1", type.start, type.end) === '"complete"')
  );
}

/** Where something is taken from, and the strings in it that should be base64 and were not taken. */
interface Source {
  readonly result: JsonBytes;
  readonly base64: Span[];
}

/** Up to this size a part is parsed, however it is made. */
const parsedPartBytes = 4_096;
/** Texts, objects and lists that a part may have which is parsed: a millisecond or two. */
const mostPartsAtOnce = 10_000;
/** Levels of objects of which a large part is looked at by itself; blocks of content have two. */
const deepestPart = 4;
/** How much is looked at in one turn. */
const sliceBytes = 524_288;

async function skeletonOf(
  source: Source,
  { members, elements }: JsonOutline,
  list: string,
): Promise<JsonObject | undefined> {
  const { result } = source;
  const items: unknown[] = [];
  let untilYield = sliceBytes;
  for (const element of elements ?? []) {
    const item = isPlainText(result, element) ? plainText : partOf(source, element);
    if (item === tooComplex) return undefined;
    items.push(item);
    if ((untilYield -= element.end - element.start) > 0) continue;
    await nextTurn();
    untilYield = sliceBytes;
  }
  const parts: [string, unknown][] = [];
  for (const member of members) {
    const { key, start } = member;
    const isPassed = key === "structuredContent" && result[start] === openBrace;
    const part = key === list && elements !== undefined ? items : isPassed ? {} : partOf(source, member);
    if (part === tooComplex) return undefined;
    parts.push([key, part]);
  }
  return Object.fromEntries(parts);
}

/** In the place of a part that takes too long to parse in one turn. */
const tooComplex = Symbol("too complex");

/** In the place of all blocks of text without annotations, which may be many thousands. */
const plainText = Object.freeze({ type: "text", text: "" });

function isPlainText(result: JsonBytes, { members }: ListedElement): boolean {
  const [type, text] = [members.get("type"), members.get("text")];
  if (type === undefined || text === undefined || members.has("annotations") || members.has("_meta")) return false;
  return result[text.start] === quote && result.toString("latin1", type.start, type.end) === '"text"';
}

function partOf(source: Source, span: Span, key = "", depth = 0): unknown {
  const { result, base64 } = source;
  const { start, end } = span;
  if (end - start > parsedPartBytes) {
    if (result[start] === quote) {
      if (key === "data" || key === "blob") base64.push(span);
      return "";
    }
    // The contents are scanned once for each level.
    if (depth === deepestPart || hasManyParts(result.subarray(start, end), mostPartsAtOnce)) return tooComplex;
    if (result[start] === openBrace && key !== "_meta") {
      const entries: [string, unknown][] = [];
      for (const member of scanMembers(result, start, end, Number.POSITIVE_INFINITY)) {
        const part = partOf(source, member, member.key, depth + 1);
        if (part === tooComplex) return tooComplex;
        entries.push([member.key, part]);
      }
      return Object.fromEntries(entries);
    }
  }
  return JSON.parse(result.toString("utf8", start, end));
}

/**
 * Whether a string is base64 in its usual form; others are parsed, and checked then. The decoded length tells, because
 * a decoder skips invalid characters; this takes a tenth of the time of a regular expression.
 */
async function isPlainBase64(result: JsonBytes, { start, end }: Span): Promise<boolean> {
  const [first, last] = [start + 1, end - 1];
  if ((last - first) % 4 !== 0) return false;
  const decoded = Buffer.allocUnsafeSlow(Math.min(last - first, sliceBytes));
  for (let at = first; at < last; at += sliceBytes) {
    const slice = result.subarray(at, Math.min(at + sliceBytes, last));
    const isEnd = at + slice.length === last;
    const padding = isEnd ? Number(slice.at(-1) === equals) + Number(slice.at(-2) === equals) : 0;
    // The letters of base64url, which the decoder takes too.
    if (slice.includes("-") || slice.includes("_")) return false;
    if (decoded.write(slice.toString("latin1"), "base64") !== (slice.length / 4) * 3 - padding) return false;
    if (!isEnd) await nextTurn();
  }
  return true;
}

const equals = 0x3d;
