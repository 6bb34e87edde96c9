import type { IncomingMessage, ServerResponse } from "node:http";
import type { GatewayError } from "../../kernel/gateway-error.ts";
import { errorBody } from "./answer-channel.ts";
import type { ReplyBody } from "./caller.ts";
import { MessageError } from "./message.ts";
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
  const message = `{"jsonrpc":"2.0","id":${idText},${joinText(reply.body)}}`;
  if (asEvent && reply.status === 200) {
    response.writeHead(200, [
      "Content-Type",
      "text/event-stream",
      "Cache-Control",
      "no-cache, no-transform",
      ...headers,
    ]);
    response.end(`event: message\ndata: ${message}\n\n`, "latin1");
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
  const idText = id ?? (failure instanceof MessageError ? failure.idText : "null");
  const { rpc, http } = failure.row;
  const data = { code: failure.code, hint: failure.hint, ...failure.data };
  const text = `{"jsonrpc":"2.0","id":${idText},${errorBody({ code: rpc, message: failure.message, data })}}`;
  const close = failure.code === "BODY_TIMEOUT" ? ["Connection", "close"] : [];
  const retry = failure.data?.["retry_after_s"];
  const after = typeof retry === "number" ? ["Retry-After", String(retry)] : [];
  response.writeHead(http, [...jsonHeaders, "Content-Length", String(text.length), ...headers, ...close, ...after]);
  response.end(text, "latin1");
  if (!response.req.complete) discardRest(response.req);
}

/** A client that was refused may still be sending: closing at once would reset the connection, and it might never read why. */
function discardRest(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), discardMs);
  timer.unref();
  request.on("close", () => clearTimeout(timer));
  request.resume();
}

const discardMs = 2_000;
