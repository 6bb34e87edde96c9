import type { GatewayError } from "../../kernel/gateway-error.ts";
import type { Answer } from "../../kernel/call-context.ts";
import { MessageError } from "./client-message.ts";
import { answerText } from "./envelope.ts";
import { errorBody, errorObjectText, type ErrorObject } from "./error-object.ts";
import { supportedRevisions } from "./revisions.ts";

/**
 * The `"error":…` part of an answer for a failure of ours: what happened, and in `data` the row's code and hint
 * beside the facts. The one way in which clients learn of a failure, whatever the transport. `rpc`: where the
 * protocol has a number of its own for what happened.
 */
export function failureBody(failure: GatewayError, rpc: number = failure.row.rpc): string {
  return errorBody(failureObject(failure, rpc));
}

/** The answer to a question of a server that got none. */
export function failureAnswer(failure: GatewayError, rpc: number = failure.row.rpc): Answer {
  return { kind: "error", error: Buffer.from(errorObjectText(failureObject(failure, rpc)), "latin1") };
}

function failureObject(failure: GatewayError, rpc: number): ErrorObject {
  const supported = failure.code === "VERSION_UNSUPPORTED" ? { supported: supportedRevisions } : undefined;
  const own = { code: failure.code, hint: failure.hint };
  // Twice: they stand first, and no fact takes their place.
  return { code: rpc, message: failure.message, data: { ...own, ...supported, ...failure.data, ...own } };
}

/** The whole answer. Without an id it is that of the message which could not be read, or null. */
export function failureText(failure: GatewayError, idText?: string): string {
  return answerText(idText ?? (failure instanceof MessageError ? failure.idText : "null"), failureBody(failure));
}
