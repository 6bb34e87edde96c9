import { asciiJson } from "../json/ascii-json.ts";
import { rpcCodes } from "./rpc-codes.ts";
import { parseJsonObject, type JsonBytes } from "../../kernel/json-bytes.ts";

/** The error object of a reply, parsed; what a server sends in its place that is none becomes one. */
export function parseErrorObject(error: JsonBytes): { code: number; message: string; data?: unknown } {
  const parsed = parseJsonObject(error);
  if (parsed === undefined)
    return { code: rpcCodes.internalError, message: "the server answered with an error that is no object" };
  const code = isCode(parsed["code"]) ? parsed["code"] : rpcCodes.internalError;
  const message = typeof parsed["message"] === "string" ? parsed["message"] : "the server gave no message";
  return parsed["data"] === undefined ? { code, message } : { code, message, data: parsed["data"] };
}

/** Whether it is one (JSON-RPC 2.0, section 5.1): clients throw away the whole message when it is not. */
export function isErrorObject(error: JsonBytes): boolean {
  const parsed = parseJsonObject(error);
  return isCode(parsed?.["code"]) && typeof parsed?.["message"] === "string";
}

function isCode(value: unknown): value is number {
  return Number.isInteger(value);
}

/** What JSON-RPC says in place of a result. */
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The text of an error object. */
export function errorObjectText({ code, message, data }: ErrorObject): string {
  return asciiJson(data === undefined ? { code, message } : { code, message, data });
}

/** The `"error":…` part of an answer. */
export function errorBody(error: ErrorObject): string {
  return `"error":${errorObjectText(error)}`;
}
