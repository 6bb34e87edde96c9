import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { asciiJson } from "../json/ascii-json.ts";
import { findMember, type Member } from "../json/json-scan.ts";

/**
 * Writes the messages of JSON-RPC 2.0 as latin1 text: our own text is ASCII, and a peer's bytes may stand between it
 * (see `ascii-json.ts`). All messages are written here.
 */
const head = '{"jsonrpc":"2.0",';

/** Whether an object says that it is a message of JSON-RPC. These are its members. */
export function saysEnvelope(members: readonly Member[]): boolean {
  return findMember(members, "jsonrpc") !== undefined;
}

/** A request. `id` is JSON text or a number; `params` is the text of an object. */
export function requestText(id: string | number, method: string, params: string): string {
  return `${head}"id":${id},"method":${asciiJson(method)},"params":${params}}`;
}

/** A notification. `params` is the text of an object; without it the message has no params. */
export function notificationText(method: string, params?: string): string {
  return params === undefined
    ? `${head}"method":${asciiJson(method)}}`
    : `${head}"method":${asciiJson(method)},"params":${params}}`;
}

/** A notification with params of our own. An empty object is left out. */
export function writeNotification(method: string, params: JsonObject): string {
  for (const _key in params) return notificationText(method, asciiJson(params));
  return notificationText(method);
}

/** A response. `body` is the text `"result":…` or `"error":…`. */
export function answerText(id: string | number, body: string): string {
  return `${head}"id":${id},${body}}`;
}

/** A response in pieces, for bodies that are too large to be joined. */
export function answerPieces(id: string | number, body: readonly (string | Buffer)[]): (string | Buffer)[] {
  return [`${head}"id":${id},`, ...body, "}"];
}
