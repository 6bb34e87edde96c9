import { openBrace, openBracket } from "../../wire/json/characters.ts";
import { isUtf8 } from "node:buffer";
import { findMember, scanNested, skipSpace, skipValue, type Member } from "../../wire/json/json-scan.ts";
import { requireFewParts } from "../../wire/json/json-parts.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { tellDepthLimit } from "../../kernel/limits.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";

/** One message from a client. `params` is parsed; its members are also available as bytes. */
export type ClientMessage =
  | ClientRequest
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | {
      readonly kind: "response";
      readonly id: string | number;
      readonly body: { readonly kind: "result" | "error"; readonly bytes: JsonBytes };
    };

/** A request from a client. */
export class ClientRequest {
  readonly kind = "request";
  /** The id exactly as the client wrote it (latin1), because the answer must repeat it. */
  readonly idText: string;
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
  readonly #bytes: Buffer;
  readonly #members: readonly Member[];

  constructor(
    id: { readonly value: string | number; readonly text: string },
    method: string,
    params: JsonObject,
    bytes: Buffer,
    members: readonly Member[],
  ) {
    this.id = id.value;
    this.idText = id.text;
    this.method = method;
    this.params = params;
    this.#bytes = bytes;
    this.#members = members;
  }

  /** A member of `params` as the bytes that the client wrote. */
  paramBytes(key: string): JsonBytes | undefined {
    if (this.params[key] === undefined) return undefined;
    const member = findMember(this.#members, key);
    return member === undefined ? undefined : this.#bytes.subarray(member.start, member.end);
  }
}

/** A message that is refused, with the id that the refusal must name. */
export class MessageError extends GatewayError {
  /** The id as text; `null` when it could not be read. */
  readonly idText: string;

  constructor(code: "PARSE_ERROR" | "REQUEST_INVALID" | "PARAMS_INVALID", message: string, idText = "null") {
    super(code, message);
    this.idText = idText;
  }
}

const noParams: JsonObject = Object.freeze({});
const nothing = { members: [], inner: undefined } as const;

/**
 * Reads one JSON-RPC message (faults 1-8, 14, 17). Throws MessageError, or GatewayError BODY_TOO_DEEP before any
 * value is built. Callers handle batches themselves: see {@link isBatch}. `isReadable`: {@link requireReadable} was
 * called before.
 */
export function readClientMessage(bytes: Buffer, maxDepth: number, isReadable = false): ClientMessage {
  if (!isReadable) requireReadable(bytes, maxDepth);
  const { value, members, inner } = parseBody(bytes, maxDepth);
  const idMember = findMember(members, "id");
  const id = value["id"];
  const hasNullId = id === null && isNotification(value["method"]);
  if (idMember !== undefined && !isId(id) && !hasNullId)
    throw new MessageError("REQUEST_INVALID", "the id is neither a string nor an integer");
  const idText = idMember === undefined ? "null" : bytes.toString("latin1", idMember.start, idMember.end);
  if (value["jsonrpc"] !== "2.0") throw new MessageError("REQUEST_INVALID", 'jsonrpc is not "2.0"', idText);
  const { method } = value;
  if (method === undefined && idMember !== undefined)
    return readResponse(bytes, members, value, id as string | number, idText);
  if (typeof method !== "string" || method === "")
    throw new MessageError("REQUEST_INVALID", "the method is not a string", idText);
  const params = readParams(value["params"]);
  if (!isJsonObject(params))
    throw new MessageError("PARAMS_INVALID", `the params of ${method.slice(0, 100)} are not an object`, idText);
  if (idMember === undefined || hasNullId) return { kind: "notification", method, params };
  if (decidedMethods.test(method)) requireOneSpelling(params, idText);
  return new ClientRequest({ value: id as string | number, text: idText }, method, params, bytes, inner ?? []);
}

/**
 * Throws what {@link readClientMessage} does for bytes that are not UTF-8, and for more than can be parsed in one turn:
 * of a large message this takes as long as parsing it, and so has a turn of its own.
 */
export function requireReadable(bytes: Buffer, maxDepth: number): void {
  if (!isUtf8(bytes)) throw notUtf8();
  try {
    requireFewParts(bytes, maxDepth);
  } catch (error) {
    throw toRefusal(error, maxDepth);
  }
}

/**
 * Throws what {@link readClientMessage} does for bytes that are no JSON text within the limit of depth, whatever else
 * they are.
 */
export function requireJson(bytes: Buffer, maxDepth: number): void {
  requireReadable(bytes, maxDepth);
  try {
    skipValue(bytes, skipSpace(bytes, 0, bytes.length), bytes.length, maxDepth);
    JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw toRefusal(error, maxDepth);
  }
}

/** Whether the body begins as a JSON array does: a batch; only revision 2025-03-26 allows them. */
export function isBatch(bytes: Buffer): boolean {
  return startsWith(bytes, openBracket);
}

function startsWith(bytes: Buffer, wanted: number): boolean {
  return bytes[skipSpace(bytes, 0, bytes.length)] === wanted;
}

/** Scans before parsing: the scan refuses deep nesting, whereas JSON.parse would build a million levels. */
function parseBody(
  bytes: Buffer,
  maxDepth: number,
): { value: JsonObject; members: readonly Member[]; inner: readonly Member[] | undefined } {
  if (bytes.length === 0) throw new MessageError("PARSE_ERROR", "the body is empty");
  try {
    const { members, inner } = startsWith(bytes, openBrace)
      ? scanNested(bytes, 0, bytes.length, maxDepth - 1, "params")
      : nothing;
    if (members.length === 0) skipValue(bytes, skipSpace(bytes, 0, bytes.length), bytes.length, maxDepth);
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    if (!isJsonObject(value)) throw new MessageError("REQUEST_INVALID", "the body is not a JSON object");
    return { value, members, inner };
  } catch (error) {
    throw toRefusal(error, maxDepth);
  }
}

/** What fails for another reason than its depth is no JSON. */
function toRefusal(error: unknown, maxDepth: number): unknown {
  return error instanceof MessageError || (error instanceof GatewayError && error.code !== "PARSE_ERROR")
    ? tellDepthLimit(error, maxDepth)
    : new MessageError("PARSE_ERROR", "the body is not valid JSON");
}

function notUtf8(): MessageError {
  return new MessageError("PARSE_ERROR", "the body is not valid UTF-8");
}

function readResponse(
  bytes: Buffer,
  members: readonly Member[],
  value: JsonObject,
  id: string | number,
  idText: string,
): ClientMessage {
  // The other one may be there as well, as null.
  const hasError = (value["error"] ?? null) !== null;
  const kind = value["result"] === undefined || (value["result"] === null && hasError) ? "error" : "result";
  const member = findMember(members, kind);
  if (member === undefined)
    throw new MessageError("REQUEST_INVALID", "the message has neither method nor result nor error", idText);
  return { kind: "response", id, body: { kind, bytes: bytes.subarray(member.start, member.end) } };
}

/** Null and an empty list are how many languages write "none". */
function readParams(params: unknown): unknown {
  return params === undefined || params === null || (Array.isArray(params) && params.length === 0) ? noParams : params;
}

/** What decides which tool, prompt or resource is used and with what, by its name without regard to capitals. */
const decidingParams: ReadonlyMap<string, string> = new Map(
  ["name", "arguments", "uri", "ref", "argument", "task", "_meta", "inputResponses", "requestState"].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/** Methods of the protocol with such params; what those of a vendor mean is between client and server. */
const decidedMethods = /^(?:tools|prompts|resources|completion|tasks|skills)\//;

/**
 * Some servers read `Name` as `name`, and may then do another thing than the one that was checked. No such member is
 * passed on.
 */
function requireOneSpelling(params: JsonObject, idText: string): void {
  for (const key in params) {
    // Upper case first: the long s and the Kelvin sign count as letters of ASCII to those servers.
    const meant = decidingParams.get(key) === key ? key : decidingParams.get(key.toUpperCase().toLowerCase());
    if (meant === undefined || meant === key) continue;
    throw new MessageError("PARAMS_INVALID", `the params have "${key}", which some servers read as "${meant}"`, idText);
  }
}

/** The name says it, where a client writes the id that it has not as null. */
function isNotification(method: unknown): boolean {
  return typeof method === "string" && method.startsWith("notifications/");
}

function isId(id: unknown): id is string | number {
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id));
}
