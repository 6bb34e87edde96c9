import { clampLimit, queryByteLimit } from "../../discovery/engine.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { DiscoverRequest, Intent } from "../intent.ts";

/** Needs of one search. Each costs a search of its own, and more than this is a mistake of the caller. */
const mostQueries = 10;

/**
 * Reads the arguments of discover_mcp_tools. Arguments that are merely clumsy are put right (fault 63: a limit is
 * clamped). Throws ARGUMENTS_INVALID for what cannot be understood, QUERY_INVALID for a query above 10 KB.
 */
export function readDiscoverArguments(given: JsonObject): DiscoverRequest {
  const one = readTexts(given["query"]);
  const several = readTexts(given["queries"]);
  if (several === undefined) throw invalid("queries", "must be an array of strings");
  if (one === undefined) throw invalid("query", "must be a string");
  const grouped = several.length > 0 || one.length > 1;
  const wanted = [...one, ...several];
  if (wanted.length > mostQueries) throw invalid("queries", `must hold at most ${mostQueries} queries`);
  for (const text of wanted) {
    if (Buffer.byteLength(text) > queryByteLimit)
      throw new GatewayError("QUERY_INVALID", `a query has more than ${queryByteLimit} bytes`);
  }
  // A blank query asks for nothing. If all of them are blank, the servers are listed.
  const needs = wanted.filter((text) => text.trim() !== "");
  return {
    queries: needs.length === 0 ? [""] : needs,
    grouped: grouped && needs.length > 0,
    limit: clampLimit(given["limit"]),
    server: optionalText(given, "server"),
    readOnly: given["readOnly"] === true || given["readOnly"] === "true",
    detail: readDetail(given["detail"]),
  };
}

/**
 * One text or several, whichever of them is expected: a list, also as JSON in a text, or one text alone. Undefined for
 * anything else.
 */
function readTexts(given: unknown): readonly string[] | undefined {
  if (given === undefined || given === null || given === "") return [];
  if (typeof given === "string") return (given.trimStart().startsWith("[") ? readList(given) : undefined) ?? [given];
  return readList(given);
}

/** A member that is null is none. */
function readList(given: unknown): readonly string[] | undefined {
  const list = typeof given === "string" ? parseList(given) : given;
  if (!Array.isArray(list)) return undefined;
  const texts = list.filter((item) => item !== null);
  return texts.every((item): item is string => typeof item === "string") ? texts : undefined;
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the arguments of list_mcp_resources. Throws ARGUMENTS_INVALID. */
export function readListArguments(given: JsonObject): Extract<Intent, { kind: "list-resources" }> {
  return {
    kind: "list-resources",
    server: optionalText(given, "server"),
    query: optionalText(given, "query"),
    cursor: optionalText(given, "cursor"),
  };
}

/** Reads the arguments of read_mcp_resource. Throws ARGUMENTS_INVALID. */
export function readUriArgument(given: JsonObject): string {
  const { uri } = given;
  if (typeof uri !== "string" || uri === "") throw invalid("uri", "is required and must be a string");
  return uri;
}

function readDetail(detail: unknown): DiscoverRequest["detail"] {
  if (detail === undefined || detail === null || detail === "") return "signature";
  const word = typeof detail === "string" ? detail.trim().toLowerCase() : detail;
  if (word === "names" || word === "signature" || word === "schema") return word;
  throw invalid("detail", 'must be "names", "signature" or "schema"');
}

function optionalText(given: JsonObject, key: string): string | undefined {
  const value = given[key];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw invalid(key, "must be a string");
  return value;
}

/** An ARGUMENTS_INVALID whose message begins with the field's name. */
export function invalid(field: string, message: string): GatewayError {
  return new GatewayError("ARGUMENTS_INVALID", `\`${field}\` ${message}`, { data: { field } });
}
