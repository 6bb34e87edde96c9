import type { JsonObject } from "../../kernel/json-bytes.ts";
import { asciiJson } from "../json/ascii-json.ts";

/**
 * The messages of JSON-RPC 2.0 as latin1 text: our own parts are ASCII, what is put between them may be a peer's
 * bytes (see `ascii-json.ts`). Nothing else writes `"jsonrpc"`.
 */
const head = '{"jsonrpc":"2.0",';

/** `id` as it stands in JSON; `params` is the text of an object. */
export function requestText(id: string | number, method: string, params: string): string {
  return `${head}"id":${id},"method":${asciiJson(method)},"params":${params}}`;
}

/** `params` is the text of an object; without it the message has none. */
export function notificationText(method: string, params?: string): string {
  return params === undefined
    ? `${head}"method":${asciiJson(method)}}`
    : `${head}"method":${asciiJson(method)},"params":${params}}`;
}

/** A notification whose params are ours to write. An empty object is left out, as it says nothing. */
export function writeNotification(method: string, params: JsonObject): string {
  for (const _key in params) return notificationText(method, asciiJson(params));
  return notificationText(method);
}

/** `body` is `"result":…` or `"error":…`. */
export function answerText(id: string | number, body: string): string {
  return `${head}"id":${id},${body}}`;
}

/** The same for what is too large to be joined. */
export function answerPieces(id: string | number, body: readonly (string | Buffer)[]): (string | Buffer)[] {
  return [`${head}"id":${id},`, ...body, "}"];
}
