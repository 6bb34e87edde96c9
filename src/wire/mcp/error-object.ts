import { failures } from "../../kernel/failures/failures.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Answer } from "../../kernel/call/call-context.ts";
import { MessageError } from "./client-message.ts";
import { answerText } from "./envelope.ts";
import { supportedRevisions } from "./revisions.ts";
import { asciiJson } from "../json/ascii-json.ts";
import { backslash, lowerU, openBrace, quote } from "../json/characters.ts";
import { hasManyParts } from "../json/json-parts.ts";
import { findMember, scanMembers, type Member, type Span } from "../json/json-scan.ts";
import { isJsonObject, parseJsonObject, type JsonBytes, parseJson } from "../../kernel/text/json-bytes.ts";

/** Error codes of JSON-RPC and MCP by name. The codes of the gateway's own failures are in the table of failures. */
export const rpcCodes = Object.freeze({
  /** JSON-RPC 2.0, section 5.1. */
  parseError: failures.PARSE_ERROR.rpc,
  invalidRequest: failures.REQUEST_INVALID.rpc,
  methodNotFound: failures.METHOD_UNKNOWN.rpc,
  invalidParams: failures.PARAMS_INVALID.rpc,
  internalError: failures.INTERNAL.rpc,
  /** The code that many servers use for every error without a code of its own. */
  serverError: -32_000,
  /** 2025-11-25, server/resources. The modern revision uses invalidParams instead. */
  resourceNotFound: -32_002,
  /** 2025-11-25, client/elicitation: a person has to open a URL before the request can succeed. */
  urlElicitationRequired: -32_042,
  /** 2026-07-28, basic/index, error codes. */
  headerMismatch: failures.HEADER_MISMATCH.rpc,
  missingCapability: failures.CAPABILITY_MISSING.rpc,
  unsupportedVersion: failures.VERSION_UNSUPPORTED.rpc,
});

/**
 * The `"error":…` part of a response for one of the gateway's own failures, on every transport: the message, and in
 * `data` the failure's code, hint and facts. `rpc` replaces the row's number where the protocol has its own.
 */
export function failureBody(failure: GatewayError, rpc: number = failure.row.rpc): string {
  return errorBody(failureObject(failure, rpc));
}

/** Answers a server's question with a failure, when no answer from the client is available. */
export function failureAnswer(failure: GatewayError, rpc: number = failure.row.rpc): Answer {
  return { kind: "error", error: Buffer.from(errorObjectText(failureObject(failure, rpc)), "latin1") };
}

function failureObject(failure: GatewayError, rpc: number): ErrorObject {
  const supported = failure.code === "VERSION_UNSUPPORTED" ? { supported: supportedRevisions } : undefined;
  const own = { code: failure.code, hint: failure.hint };
  // Code and hint are written twice: first so that they stand before the facts, and again so that no fact can replace
  // them.
  return { code: rpc, message: failure.message, data: { ...own, ...supported, ...failure.data, ...own } };
}

/** A complete error response. Without `idText`, the id is that of the message that could not be read, or null. */
export function failureText(failure: GatewayError, idText?: string): string {
  return answerText(idText ?? (failure instanceof MessageError ? failure.idText : "null"), failureBody(failure));
}

/**
 * Parses the `error` of a response. What JSON-RPC does not allow is replaced, so that the result is always a valid
 * error object, but keeps what the server says: a text or any other value becomes the message, as does what an object
 * has instead of one.
 */
export function parseErrorObject(error: JsonBytes): { code: number; message: string; data?: unknown } {
  const parsed = hasManyParts(error) ? undefined : parseJson(error.toString("utf8"));
  if (!isJsonObject(parsed)) return { code: rpcCodes.internalError, message: wordsOf(parsed) ?? noMessage };
  const { code: given, message: told, data, ...rest } = parsed;
  const code = isCode(given) ? given : rpcCodes.internalError;
  const said = wordsOf(told) ?? wordsOf(rest);
  const message = said ?? (typeof data === "string" ? wordsOf(data) : undefined) ?? noMessage;
  return data === undefined ? { code, message } : { code, message, data };
}

/** A larger error is read several times on its way to the client, and no person or model reads it. */
const mostErrorBytes = 262_144;
/** Of a longer message. */
const mostMessageBytes = 65_536;

/**
 * The same error where it has up to 256 KiB. Of a larger one its code and the beginning of its message, which says so:
 * `data` is left out. Made by scanning, so that it takes no longer however the rest is made.
 */
export function shortError(error: JsonBytes): JsonBytes {
  if (error.length <= mostErrorBytes) return error;
  const members = membersOf(error);
  const code = findMember(members, "code");
  const told = error[0] === openBrace ? findMember(members, "message") : { start: 0, end: error.length };
  const given =
    code && code.end - code.start < 32 ? Number(error.toString("latin1", code.start, code.end)) : Number.NaN;
  const said = beginningOf(error, told);
  const note = `(the rest of an error of ${error.length} bytes is left out)`;
  const message = said === "" ? note : `${said} ${note}`;
  return Buffer.from(asciiJson({ code: isCode(given) ? given : rpcCodes.internalError, message }), "latin1");
}

function membersOf(error: JsonBytes): readonly Member[] {
  try {
    return scanMembers(error, 0, error.length, Number.POSITIVE_INFINITY);
  } catch {
    return [];
  }
}

/** Of a string in JSON what its first 64 KiB say. Anything else says nothing. */
function beginningOf(bytes: JsonBytes, text: Span | undefined): string {
  if (text === undefined || bytes[text.start] !== quote) return "";
  const { start, end } = text;
  const stop = Math.min(end - 1, start + mostMessageBytes);
  let at = start + 1;
  let last = at;
  while (at <= stop) {
    last = at;
    if (bytes[at] === backslash) at += bytes[at + 1] === lowerU ? 6 : 2;
    else
      do at += 1;
      while (((bytes[at] as number) & 0xc0) === 0x80);
  }
  try {
    return JSON.parse(`"${bytes.toString("utf8", start + 1, last)}"`) as string;
  } catch {
    return "";
  }
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
interface ErrorObject {
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
