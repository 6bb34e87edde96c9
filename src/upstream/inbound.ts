import { isUtf8 } from "node:buffer";
import { findMember, scanMembers, type Member } from "../protocol/json-scan.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../shared/json-bytes.ts";

/** One message from a server, told apart by its members alone (JSON-RPC 2.0); results stay bytes. */
export type Inbound =
  | { readonly kind: "result"; readonly id: unknown; readonly result: JsonBytes }
  | { readonly kind: "error"; readonly id: unknown; readonly error: JsonBytes }
  | { readonly kind: "request"; readonly id: unknown; readonly method: string; readonly params: JsonBytes }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "invalid"; readonly reason: string };

const emptyObject = Buffer.from("{}");

/** Reads one message. `bytes` is used in place: what is returned points into it. Never throws. */
export function readInbound(bytes: Buffer, maxDepth: number): Inbound {
  let members: Member[];
  try {
    members = scanMembers(bytes, 0, bytes.length, maxDepth);
  } catch (error) {
    return { kind: "invalid", reason: error instanceof Error ? error.message : "no JSON object" };
  }
  if (!isUtf8(bytes)) return { kind: "invalid", reason: "the message is not valid UTF-8" };
  const method = findMember(members, "method");
  const id = findMember(members, "id");
  if (method !== undefined) return readCall(bytes, members, method, id);
  if (id === undefined) return { kind: "invalid", reason: "neither a method nor an id" };
  const result = findMember(members, "result");
  if (result !== undefined) return { kind: "result", id: valueOf(bytes, id), result: bytes.subarray(result.start, result.end) };
  const error = findMember(members, "error");
  if (error !== undefined) return { kind: "error", id: valueOf(bytes, id), error: bytes.subarray(error.start, error.end) };
  return { kind: "invalid", reason: "an answer with neither result nor error" };
}

function readCall(bytes: Buffer, members: readonly Member[], method: Member, id: Member | undefined): Inbound {
  const name = valueOf(bytes, method);
  if (typeof name !== "string") return { kind: "invalid", reason: "the method is no string" };
  const params = findMember(members, "params");
  if (id !== undefined) {
    return { kind: "request", id: valueOf(bytes, id), method: name, params: params ? bytes.subarray(params.start, params.end) : emptyObject };
  }
  const parsed = params ? valueOf(bytes, params) : {};
  if (!isJsonObject(parsed)) return { kind: "invalid", reason: `the params of ${name} are no object` };
  return { kind: "notification", method: name, params: parsed };
}

/** A short value, parsed; undefined when it is no JSON. */
function valueOf(bytes: Buffer, member: Member): unknown {
  const first = bytes[member.start] as number;
  // Ids are nearly always small integers: no string, no parser.
  if (member.end - member.start <= 9 && first >= 0x31 && first <= 0x39) {
    let value = 0;
    for (let at = member.start; at < member.end; at += 1) {
      const digit = (bytes[at] as number) - 0x30;
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
