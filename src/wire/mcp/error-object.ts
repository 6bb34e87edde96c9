import { asciiJson } from "../json/ascii-json.ts";
import { rpcCodes } from "./rpc-codes.ts";
import { parseJsonObject, type JsonBytes } from "../../kernel/json-bytes.ts";

/**
 * Parses the error object of a response. Anything invalid is replaced, so that the result is always a valid error
 * object.
 */
export function parseErrorObject(error: JsonBytes): { code: number; message: string; data?: unknown } {
  const parsed = parseJsonObject(error);
  if (parsed === undefined)
    return { code: rpcCodes.internalError, message: "the server answered with an error that is not an object" };
  const code = isCode(parsed["code"]) ? parsed["code"] : rpcCodes.internalError;
  const message = typeof parsed["message"] === "string" ? parsed["message"] : "the server gave no message";
  return parsed["data"] === undefined ? { code, message } : { code, message, data: parsed["data"] };
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
