import type { IncomingMessage, ServerResponse } from "node:http";
import type { GatewayError } from "../../kernel/gateway-error.ts";
import { answerText } from "../../wire/mcp/envelope.ts";
import { failureText } from "../../wire/mcp/failure-text.ts";
import { eventStreamHeaders, eventText } from "../../wire/sse/event-text.ts";
import type { ReplyBody } from "./caller.ts";
import { joinText } from "./result-text.ts";

export const jsonHeaders = ["Content-Type", "application/json"];

/** One JSON-RPC message as the whole response. */
export function sendReply(
  response: ServerResponse,
  idText: string,
  reply: ReplyBody,
  headers: readonly string[] = [],
  asEvent = false,
): void {
  const message = answerText(idText, joinText(reply.body));
  if (asEvent && reply.status === 200) {
    response.writeHead(200, [...eventStreamHeaders, ...headers]);
    response.end(eventText("message", message), "latin1");
    return;
  }
  response.writeHead(reply.status, [...jsonHeaders, "Content-Length", String(message.length), ...headers]);
  response.end(message, "latin1");
}

/** A request that never came to run: HTTP status and a JSON-RPC error of the same row. */
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
 * A client that was refused may still be sending: closing at once would reset the connection, and it might never read
 * why.
 */
function discardRest(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), discardMs);
  timer.unref();
  request.on("close", () => clearTimeout(timer));
  request.resume();
}

const discardMs = 2_000;
