import { nine, one, openBrace, space, zero } from "../../wire/json/characters.ts";
import { isUtf8 } from "node:buffer";
import { findMember, scanMembers, type Member } from "../../wire/json/json-scan.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import { idOfSpoilt } from "./spoilt-answer.ts";

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

/** Reads one message. Never throws. What is returned refers to `bytes`, which must not be changed afterwards. */
export function readInbound(bytes: Buffer, maxDepth: number): Inbound {
  // Such lines are mostly log output on the wrong stream, and making an error with a stack for each would be
  // expensive.
  if (!startsObject(bytes)) return noObject;
  let members: Member[];
  try {
    members = scanMembers(bytes, 0, bytes.length, maxDepth);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "BODY_TOO_DEEP") return readDeep(bytes, maxDepth);
    return faultyAnswer(error instanceof Error ? error.message : "not a JSON object", idOfSpoilt(bytes));
  }
  return readMembers(bytes, members);
}

function startsObject(bytes: Buffer): boolean {
  let at = 0;
  while (at < bytes.length && (bytes[at] as number) <= space) at += 1;
  return bytes[at] === openBrace;
}

const noObject: Inbound = Object.freeze({ kind: "invalid", reason: "not a JSON object" });

/**
 * Classifies a message beyond the depth limit. A result is passed on to whoever asked for it, because only one item
 * of a list may be at fault; everything else is refused.
 */
function readDeep(bytes: Buffer, maxDepth: number): Inbound {
  const message = readInbound(bytes, scanDepth);
  if (message.kind === "result") return { ...message, tooDeep: true };
  const reason = `the message nests deeper than ${maxDepth} levels`;
  return message.kind === "error" ? { kind: "invalid", reason, id: message.id } : { kind: "invalid", reason };
}

function readMembers(bytes: Buffer, members: readonly Member[]): Inbound {
  const method = findMember(members, "method");
  const id = findMember(members, "id");
  if (!isUtf8(bytes))
    return faultyAnswer(
      "the message is not valid UTF-8",
      method === undefined && id !== undefined ? valueOf(bytes, id) : undefined,
    );
  if (method !== undefined) return readCall(bytes, members, method, id);
  if (id === undefined) return { kind: "invalid", reason: "neither a method nor an id" };
  const result = findMember(members, "result");
  if (result !== undefined)
    return { kind: "result", id: valueOf(bytes, id), result: bytes.subarray(result.start, result.end) };
  const error = findMember(members, "error");
  if (error === undefined) return faultyAnswer("an answer with neither result nor error", valueOf(bytes, id));
  if (bytes[error.start] !== openBrace)
    return faultyAnswer("an answer whose error is not an object", valueOf(bytes, id));
  return { kind: "error", id: valueOf(bytes, id), error: bytes.subarray(error.start, error.end) };
}

function faultyAnswer(reason: string, id: unknown): Inbound {
  return id === undefined ? { kind: "invalid", reason } : { kind: "invalid", reason, id };
}

function readCall(bytes: Buffer, members: readonly Member[], method: Member, id: Member | undefined): Inbound {
  const name = valueOf(bytes, method);
  if (typeof name !== "string") return { kind: "invalid", reason: "the method is not a string" };
  const params = findMember(members, "params");
  if (id !== undefined) {
    return {
      kind: "request",
      id: valueOf(bytes, id),
      method: name,
      params: params ? bytes.subarray(params.start, params.end) : emptyObject,
    };
  }
  const parsed = params ? valueOf(bytes, params) : {};
  if (!isJsonObject(parsed)) return { kind: "invalid", reason: `the params of ${name} are not an object` };
  return { kind: "notification", method: name, params: parsed };
}

/** Parses a short value; undefined when it is not JSON. */
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
  try {
    return JSON.parse(bytes.toString("utf8", member.start, member.end));
  } catch {
    return undefined;
  }
}
