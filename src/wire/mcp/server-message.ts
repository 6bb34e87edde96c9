import { lowerN, nine, one, openBrace, openBracket, space, startsWithMark, zero } from "../json/characters.ts";
import { isUtf8 } from "node:buffer";
import { findMember, scanElements, scanMembers, type Member } from "../json/json-scan.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonBytes, type JsonObject, parseJson } from "../../kernel/text/json-bytes.ts";
import { hasManyParts } from "../json/json-parts.ts";
import { shortError } from "./error-object.ts";
import { saysEnvelope } from "./envelope.ts";
import { withoutNulls } from "./shapes/null-members.ts";

/** One message from a server, classified by its members alone (JSON-RPC 2.0). Results stay bytes. */
export type Inbound =
  /** `tooDeep`: the result nests deeper than the limit and must not be passed to recursive code. */
  | { readonly kind: "result"; readonly id: unknown; readonly result: JsonBytes; readonly tooDeep?: true }
  | { readonly kind: "error"; readonly id: unknown; readonly error: JsonBytes }
  | { readonly kind: "request"; readonly id: unknown; readonly method: string; readonly params: JsonBytes }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  /** `id` is given where it could be read: the request with that id fails at once instead of at its deadline. */
  | { readonly kind: "invalid"; readonly reason: string; readonly id?: unknown };

const emptyObject = Buffer.from("{}");

/** The scanner does not recurse, so even a message beyond the caller's limit can be classified. */
const scanDepth = Number.MAX_SAFE_INTEGER;

/** The most messages taken from one array. */
const mostBatched = 100;

/**
 * Reads a line, a body or an event, and calls `receive` for the message in it, or for each of an array of them
 * (revision 2025-03-26, basic, batching). Never throws; messages refer to `bytes` as those of `readInbound` do.
 */
export function readEach(bytes: Buffer, maxDepth: number, receive: (message: Inbound) => void): void {
  const batch = readBatch(bytes, maxDepth);
  if (batch === undefined) receive(readInbound(bytes, maxDepth));
  else for (const message of batch) receive(message);
}

/** The messages of an array, of which the first hundred are read; undefined for anything that is no array. */
export function readBatch(bytes: Buffer, maxDepth: number): readonly Inbound[] | undefined {
  const start = startOf(bytes);
  if (bytes[start] !== openBracket) return undefined;
  try {
    return scanElements(bytes, start, bytes.length, maxDepth, mostBatched)
      .slice(0, mostBatched)
      .map((element) => readInbound(bytes.subarray(element.start, element.end), maxDepth));
  } catch {
    return [noArray];
  }
}

const noArray: Inbound = Object.freeze({ kind: "invalid", reason: "an array that is not valid JSON" });

/** Reads one message. Never throws. The message refers to `bytes`, which must not be changed afterwards. */
export function readInbound(bytes: Buffer, maxDepth: number): Inbound {
  // Such lines are mostly log output on the wrong stream, and making an error with a stack for each would be
  // expensive.
  const start = startOf(bytes);
  if (bytes[start] !== openBrace) return noObject;
  let members: Member[];
  try {
    members = scanMembers(bytes, start, bytes.length, maxDepth);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "BODY_TOO_DEEP") return readDeep(bytes, maxDepth);
    return faultyAnswer(error instanceof Error ? error.message : "not a JSON object", idOfSpoilt(bytes));
  }
  return readMembers(bytes, members);
}

/** Where the text begins, after a byte order mark and white space. */
function startOf(bytes: Buffer): number {
  let at = startsWithMark(bytes) ? 3 : 0;
  while (at < bytes.length && (bytes[at] as number) <= space) at += 1;
  return at;
}

const noObject: Inbound = Object.freeze({ kind: "invalid", reason: "not a JSON object" });
const noMessage: Inbound = Object.freeze({ kind: "invalid", reason: "a JSON object that is no JSON-RPC message" });

/**
 * Classifies a message beyond the depth limit. A result is passed on to its caller, because only one item of a list may
 * be at fault; everything else is refused.
 */
function readDeep(bytes: Buffer, maxDepth: number): Inbound {
  const message = readInbound(bytes, scanDepth);
  if (message.kind === "result") return { ...message, tooDeep: true };
  const reason = `the message nests deeper than ${maxDepth} levels`;
  return message.kind === "error" ? { kind: "invalid", reason, id: message.id } : { kind: "invalid", reason };
}

function readMembers(bytes: Buffer, members: readonly Member[]): Inbound {
  const isMarked = saysEnvelope(members);
  if (!isMarked && !isBareMessage(members)) return noMessage;
  const method = findMember(members, "method");
  const isCall = method !== undefined && !isNull(bytes, method);
  const id = findMember(members, "id");
  if (!isUtf8(bytes))
    return faultyAnswer("the message is not valid UTF-8", !isCall && id !== undefined ? valueOf(bytes, id) : undefined);
  if (isCall) return readCall(bytes, members, method, id);
  const result = findMember(members, "result");
  const error = findMember(members, "error");
  if (error !== undefined && isFailure(bytes, error, result) && (id !== undefined || isMarked))
    return {
      kind: "error",
      id: id === undefined ? null : valueOf(bytes, id),
      error: shortError(bytes.subarray(error.start, error.end)),
    };
  if (id === undefined) return { kind: "invalid", reason: "neither a method nor an id" };
  if (result === undefined) return faultyAnswer("an answer with neither result nor error", valueOf(bytes, id));
  return { kind: "result", id: valueOf(bytes, id), result: bytes.subarray(result.start, result.end) };
}

/**
 * Whether an object that does not say so is a message all the same, because it has a member that only messages have and
 * no other ones. Anything else is a line of a log, whose `id`, `method` or `error` are its own.
 */
function isBareMessage(members: readonly Member[]): boolean {
  return (
    members.every((member) => messageKeys.some((key) => member.is(key))) &&
    (findMember(members, "method") ?? findMember(members, "result") ?? findMember(members, "error")) !== undefined
  );
}

const messageKeys = ["id", "method", "params", "result", "error"];

/** Many languages write both members of an answer, and nothing in the one that does not count. */
function isFailure(bytes: Buffer, error: Member, result: Member | undefined): boolean {
  if (result === undefined) return !isNull(bytes, error);
  return isNothing(bytes, result) && !isNothing(bytes, error);
}

function isNull(bytes: Buffer, member: Member): boolean {
  return bytes[member.start] === lowerN;
}

/** What languages write for a value that is not there. */
const nothing = /^(?:null|false|""|\[\s*\]|\{\s*\})$/;
/** Longer values hold something, or white space that no library writes. */
const longestNothing = 32;

function isNothing(bytes: Buffer, { start, end }: Member): boolean {
  return end - start <= longestNothing && nothing.test(bytes.toString("latin1", start, end));
}

function faultyAnswer(reason: string, id: unknown): Inbound {
  return id === undefined ? { kind: "invalid", reason } : { kind: "invalid", reason, id };
}

function readCall(bytes: Buffer, members: readonly Member[], method: Member, id: Member | undefined): Inbound {
  const name = method.end - method.start > longestName ? undefined : valueOf(bytes, method);
  if (typeof name !== "string") return { kind: "invalid", reason: "the method is not a string" };
  const given = findMember(members, "params");
  const params = given === undefined || isNothing(bytes, given) ? undefined : given;
  if (id !== undefined && !(isNull(bytes, id) && name.startsWith("notifications/"))) {
    const asked = valueOf(bytes, id);
    if (asked === undefined) return { kind: "invalid", reason: `the id of ${name.slice(0, 100)} cannot be read` };
    return {
      kind: "request",
      id: asked,
      method: name,
      params: params ? bytes.subarray(params.start, params.end) : emptyObject,
    };
  }
  if (given !== undefined && given.end - given.start > mostNoticeBytes)
    return { kind: "invalid", reason: `${name.slice(0, 100)} has more than ${mostNoticeBytes} bytes of params` };
  const parsed = params ? valueOf(bytes, params) : {};
  if (!isJsonObject(parsed)) return { kind: "invalid", reason: `the params of ${name} are not an object` };
  return { kind: "notification", method: name, params: withoutNulls(parsed) };
}

const longestName = 65_536;
/** Of a notification: it is read by people, and parsed in one turn. */
const mostNoticeBytes = 1_048_576;

/** Parses a short value; undefined when it is not JSON, or more than can be parsed in one turn. */
function valueOf(bytes: Buffer, member: Member): unknown {
  const first = bytes[member.start] as number;
  // Ids are nearly always small positive integers, which are read here without making a string.
  if (member.end - member.start <= 9 && first >= one && first <= nine) {
    let value = 0;
    for (let at = member.start; at < member.end; at += 1) {
      const digit = (bytes[at] as number) - zero;
      if (digit < 0 || digit > 9) return parse(bytes, member);
      value = value * 10 + digit;
    }
    return value;
  }
  return parse(bytes, member);
}

function parse(bytes: Buffer, member: Member): unknown {
  if (hasManyParts(bytes.subarray(member.start, member.end))) return undefined;
  return parseJson(bytes.toString("utf8", member.start, member.end));
}

/** Where the members of an envelope stand: libraries write them first or last, around the result. */
const lookedAtBytes = 120;

/** `{"jsonrpc":"2.0","id":7,"result":` and, in whatever order, what else libraries begin an answer with. */
const head =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,9})\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/;
/** The SDK for TypeScript writes `{"result":…,"jsonrpc":"2.0","id":7}`. */
const bodyFirst = /^\s*\{\s*"(?:result|error)"\s*:/;
const tail = /,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,9})\s*\}\s*$/;

/**
 * The id of an answer that is no valid JSON, because the server wrote something else in the middle of it or broke off:
 * the request fails at once then instead of at its deadline. Undefined for anything that does not look like an answer,
 * such as log lines.
 */
function idOfSpoilt(bytes: Buffer): number | undefined {
  const beginning = bytes.toString("latin1", 0, lookedAtBytes);
  const first = head.exec(beginning)?.[1];
  if (first !== undefined) return Number(first);
  if (!bodyFirst.test(beginning)) return undefined;
  const last = tail.exec(bytes.toString("latin1", Math.max(0, bytes.length - lookedAtBytes)))?.[1];
  return last === undefined ? undefined : Number(last);
}
