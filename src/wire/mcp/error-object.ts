import { asciiJson } from "../json/ascii-json.ts";
import { hasManyParts } from "../json/json-parts.ts";
import { rpcCodes } from "./rpc-codes.ts";
import { isJsonObject, parseJsonObject, type JsonBytes } from "../../kernel/json-bytes.ts";

/**
 * Parses the `error` of a response. What JSON-RPC does not allow is replaced, so that the result is always a valid
 * error object, but keeps what the server says: a text or any other value becomes the message, as does what an object
 * has instead of one.
 */
export function parseErrorObject(error: JsonBytes): { code: number; message: string; data?: unknown } {
  const parsed = parseJson(error);
  if (!isJsonObject(parsed)) return { code: rpcCodes.internalError, message: wordsOf(parsed) ?? noMessage };
  const { code: given, message: told, data, ...rest } = parsed;
  const code = isCode(given) ? given : rpcCodes.internalError;
  const said = wordsOf(told) ?? wordsOf(rest);
  const message = said ?? (typeof data === "string" ? wordsOf(data) : undefined) ?? noMessage;
  return data === undefined ? { code, message } : { code, message, data };
}

const noMessage = "the server gave no message";

/** A message is read by people and models; what an odd one says beyond this is no message. */
const longestOddText = 2_000;

/** What a text, object or array says; undefined for an empty one, and for values without words. */
function wordsOf(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return undefined;
  return JSON.stringify(value).slice(0, longestOddText);
}

function parseJson(bytes: JsonBytes): unknown {
  if (hasManyParts(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Whether the bytes are a valid error object (JSON-RPC 2.0, section 5.1). Clients discard messages in which it is
 * not.
 */
export function isErrorObject(error: JsonBytes): boolean {
  const parsed = parseJsonObject(error);
  return isCode(parsed?.["code"]) && typeof parsed?.["message"] === "string";
}

function isCode(value: unknown): value is number {
  return Number.isInteger(value);
}

/** The error of a JSON-RPC response. */
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** An error object as ASCII text. */
export function errorObjectText({ code, message, data }: ErrorObject): string {
  return asciiJson(data === undefined ? { code, message } : { code, message, data });
}

/** The `"error":…` part of a response. */
export function errorBody(error: ErrorObject): string {
  return `"error":${errorObjectText(error)}`;
}
