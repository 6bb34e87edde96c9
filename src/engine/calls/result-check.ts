import { lowerF, lowerN, lowerT, openBrace } from "../../wire/json/characters.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { JsonOutline } from "../../wire/json/json-outline.ts";
import { findMember, skipSpace } from "../../wire/json/json-scan.ts";
import { checkJson } from "../../wire/json/json-validity.ts";
import type { TextSearch } from "../../wire/json/text-search.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { settingNow } from "../../kernel/setting-now.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import { withContentOfToolResult } from "./tool-result-member.ts";

export interface ResultLimits {
  /** The largest result that is passed on. */
  readonly resultBytes: number;
  /** The most content blocks of one result. */
  readonly contentBlocks: number;
  readonly depth: number;
}

/** What results are checked with. */
export interface ResultChecks extends ResultLimits {
  readonly textSearch: () => TextSearch | undefined;
}

/**
 * Results up to this size are parsed, which takes microseconds and shows every fault. Larger ones are only scanned.
 */
const parsedUpToBytes = 65_536;

/**
 * Checks that the result of tools/call can be given to a client (faults 41, 43). Throws RESULT_TOO_LARGE or
 * UPSTREAM_PROTOCOL. The bytes are passed on unchanged, except where content is made of `toolResult`. Their parsed
 * value comes along when the result is small or had to be parsed for another reason.
 */
export function checkToolResult(
  path: string,
  result: JsonBytes,
  limits: ResultChecks,
  mustParse: boolean,
): ResultBytes | Promise<ResultBytes> {
  if (result.length > limits.resultBytes) {
    throw new GatewayError(
      "RESULT_TOO_LARGE",
      `the result of ${path} has ${result.length} bytes; limits.resultBytes is ${limits.resultBytes}`,
      askForLess("limits.resultBytes", limits.resultBytes),
    );
  }
  const whole = (): ResultBytes => {
    const given = parseObject(path, result);
    const bytes = withContentOfToolResult(result, given);
    const parsed = bytes === result ? given : parseObject(path, bytes);
    checkShape(path, parsed, limits);
    return new ResultBytes(bytes, parsed);
  };
  if (result.length <= parsedUpToBytes || mustParse) return whole();
  return scanLarge(path, result, limits).then((outline) => {
    if (!isOrdinary(result, outline) || findMember(outline.members, "content") === undefined) return whole();
    lookOver(path, result, outline, limits);
    return new ResultBytes(result, undefined, outline);
  });
}

/** Checks any other result: it must be an object within the size limit. */
export function checkResult(what: string, result: JsonBytes, limits: ResultChecks): ResultBytes | Promise<ResultBytes> {
  if (result.length > limits.resultBytes) {
    throw new GatewayError(
      "RESULT_TOO_LARGE",
      `the result of ${what} has ${result.length} bytes; limits.resultBytes is ${limits.resultBytes}`,
      askForLess("limits.resultBytes", limits.resultBytes),
    );
  }
  if (result.length <= parsedUpToBytes) return new ResultBytes(result, parseObject(what, result));
  return scanLarge(what, result, limits).then((outline) =>
    isOrdinary(result, outline)
      ? new ResultBytes(result, undefined, outline)
      : new ResultBytes(result, parseObject(what, result)),
  );
}

/**
 * Finds the parts of a result that is too large to be parsed without need. Also checks that it is valid JSON, because
 * nobody parses it later. Works in several turns of the event loop: fifteen megabytes at once would delay all
 * other requests (fault K).
 */
async function scanLarge(what: string, result: JsonBytes, limits: ResultChecks): Promise<JsonOutline> {
  // One more than there may be, so that it is seen where there are too many.
  const outline = new JsonOutline(result, { ...outlined, most: limits.contentBlocks + 1 });
  if (result[skipSpace(result, 0, result.length)] !== openBrace) throw faulty(what, "is no JSON object");
  const options = { outline, search: limits.textSearch() };
  try {
    for (const _slice of checkJson(result, limits.depth, options)) await nextTurn();
    return outline;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw faulty(what, error.code === "BODY_TOO_DEEP" ? "nests too deeply" : "is no JSON object");
  }
}

/** What decides whether a content block is passed on as it is. */
const outlined = { list: "content", names: ["type"] };

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

function parseObject(path: string, result: JsonBytes): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(result.toString("utf8"));
  } catch {
    throw faulty(path, "is no valid JSON");
  }
  if (!isJsonObject(parsed)) throw faulty(path, "is no object");
  return parsed;
}

function checkShape(path: string, result: JsonObject, limits: ResultLimits): void {
  if (result["isError"] !== undefined && typeof result["isError"] !== "boolean")
    throw faulty(path, "has an isError that is no boolean");
  if (result["structuredContent"] !== undefined && result["structuredContent"] === null)
    throw faulty(path, "has a structuredContent that is null");
  if (!holdsContent(result)) return;
  const content = result["content"];
  if (!Array.isArray(content))
    throw faulty(path, content === undefined ? "has no content" : "has a content that is no array");
  if (content.length > limits.contentBlocks) throw tooManyBlocks(path, limits);
  for (const block of content as readonly unknown[]) checkBlock(path, block);
}

/** Whether the result needs content. Questions and tasks have none. */
function holdsContent(result: JsonObject): boolean {
  const type = result["resultType"];
  if (type !== undefined && type !== "complete") return false;
  return result["task"] === undefined;
}

function checkBlock(path: string, block: unknown): void {
  if (!isJsonObject(block) || typeof block["type"] !== "string")
    throw faulty(path, "has a content block without a type");
  const needed = textField[block["type"]];
  if (needed !== undefined && typeof block[needed] !== "string")
    throw faulty(path, `has a ${block["type"]} block whose ${needed} is no text`);
  if (block["type"] === "resource" && !isJsonObject(block["resource"]))
    throw faulty(path, "has a resource block without a resource");
}

/** Blocks of unknown types are accepted, because they may come from a later revision. */
const textField: Readonly<Record<string, string | undefined>> = Object.freeze({
  text: "text",
  image: "data",
  audio: "data",
  resource_link: "uri",
});

/** Checks a result by its outline alone. */
function lookOver(path: string, result: JsonBytes, { members, elements }: JsonOutline, limits: ResultLimits): void {
  const isError = findMember(members, "isError");
  if (isError !== undefined && result[isError.start] !== lowerT && result[isError.start] !== lowerF)
    throw faulty(path, "has an isError that is no boolean");
  const structured = findMember(members, "structuredContent");
  if (structured !== undefined && result[structured.start] === lowerN)
    throw faulty(path, "has a structuredContent that is null");
  if (findMember(members, "content") === undefined) throw faulty(path, "has no content");
  if (elements === undefined) throw faulty(path, "has a content that is no array");
  if (elements.length > limits.contentBlocks) throw tooManyBlocks(path, limits);
  if (elements.some((block) => result[block.start] !== openBrace))
    throw faulty(path, "has a content block that is no object");
}

function tooManyBlocks(path: string, limits: ResultLimits): GatewayError {
  return new GatewayError(
    "RESULT_TOO_LARGE",
    `the result of ${path} has more than ${limits.contentBlocks} content blocks (limits.contentBlocks)`,
    askForLess("limits.contentBlocks", limits.contentBlocks),
  );
}

function askForLess(setting: string, value: number): { readonly hint: string } {
  return { hint: `Ask the tool for less (a page, a range, a filter), or raise ${settingNow(setting, value)}.` };
}

function faulty(path: string, what: string): GatewayError {
  return new GatewayError("UPSTREAM_PROTOCOL", `the result of ${path} ${what}`);
}
