import type { IncomingMessage, ServerResponse } from "node:http";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { answerText } from "../../../wire/mcp/envelope.ts";
import { failureText } from "../../../wire/mcp/error-object.ts";
import { eventStreamHeaders, eventText } from "../../../wire/sse/event-text.ts";
import type { ReplyBody } from "../caller.ts";
import { joinText } from "./result-text.ts";

/** How long the rest of a refused request is read and thrown away. */
const discardMs = 2_000;

export const jsonHeaders = ["Content-Type", "application/json"];

/** One JSON-RPC message as the whole response. */
export function sendReply(
  response: ServerResponse,
  idText: string,
  reply: ReplyBody,
  headers: readonly string[] = [],
): void {
  const message = answerText(idText, joinText(reply.body));
  response.writeHead(reply.status, [...jsonHeaders, "Content-Length", String(message.length), ...headers]);
  response.end(message, "latin1");
}

/** The same as one event, for clients that take nothing but event streams. The stream has no other status than 200. */
export function sendReplyEvent(
  response: ServerResponse,
  idText: string,
  reply: ReplyBody,
  headers: readonly string[] = [],
): void {
  if (reply.status !== 200) {
    sendReply(response, idText, reply, headers);
    return;
  }
  response.writeHead(200, [...eventStreamHeaders, ...headers]);
  response.end(eventText("message", answerText(idText, joinText(reply.body))), "latin1");
}

/**
 * Answers a request that is refused: the status and the JSON-RPC error are of the failure's row. Nothing happens when
 * an answer was begun already.
 */
export function refuse(
  response: ServerResponse,
  failure: GatewayError,
  headers: readonly string[] = [],
  id?: string,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = failureText(failure, id);
  const close = failure.code === "BODY_TIMEOUT" ? ["Connection", "close"] : [];
  const retry = failure.data?.["retry_after_s"];
  const after = typeof retry === "number" ? ["Retry-After", String(retry)] : [];
  response.writeHead(failure.row.http, [
    ...jsonHeaders,
    "Content-Length",
    String(text.length),
    ...headers,
    ...close,
    ...after,
  ]);
  response.end(text, "latin1");
  if (!response.req.complete) discardRest(response.req);
}

/**
 * A client that was refused may still be sending. Its connection is closed only after it has had time to read why:
 * closing at once would reset it, and the refusal might be lost.
 */
function discardRest(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), discardMs);
  timer.unref();
  request.on("close", () => clearTimeout(timer));
  request.resume();
}
