import { parseJsonObject, type JsonBytes } from "../shared/json-bytes.ts";

/** The error object of a reply, parsed; what a server sends in its place that is none becomes one. */
export function parseErrorObject(error: JsonBytes): { code: number; message: string; data?: unknown } {
  const parsed = parseJsonObject(error);
  if (parsed === undefined) return { code: -32603, message: "the server answered with an error that is no object" };
  const code = typeof parsed["code"] === "number" ? parsed["code"] : -32603;
  const message = typeof parsed["message"] === "string" ? parsed["message"] : "the server gave no message";
  return parsed["data"] === undefined ? { code, message } : { code, message, data: parsed["data"] };
}
