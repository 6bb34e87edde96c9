import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Answer } from "../../kernel/call/call-context.ts";
import { MessageError } from "./client-message.ts";
import { answerText } from "./envelope.ts";
import { errorBody, errorObjectText, type ErrorObject } from "./error-object.ts";
import { supportedRevisions } from "./revisions.ts";

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
