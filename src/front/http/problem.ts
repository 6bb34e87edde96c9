import type { ServerResponse } from "node:http";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";

/**
 * A failure for programs that do not speak MCP: problem details (RFC 9457) with our code and hint as additional
 * members.
 */
export function toProblem(failure: GatewayError): JsonObject {
  const { http } = failure.row;
  return {
    type: `urn:toolyard:error:${failure.code}`,
    title: problemTitle(http),
    status: http,
    detail: failure.message,
    code: failure.code,
    hint: failure.hint,
    ...failure.data,
  };
}

/** Headers that a failure's status requires. */
export function problemHeaders(failure: GatewayError): Record<string, string> {
  const retry = failure.data?.["retry_after_s"];
  const endsConnection = failure.code === "BODY_TOO_LARGE" || failure.code === "BODY_TIMEOUT";
  return {
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    ...(typeof retry === "number" ? { "Retry-After": String(retry) } : {}),
    ...(endsConnection ? { Connection: "close" } : {}),
  };
}

/** Answers a request that is refused before it gets to any route. */
export function refuseWithProblem(
  response: ServerResponse,
  failure: GatewayError,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const text = asciiJson(toProblem(failure));
  response.writeHead(failure.row.http, { ...problemHeaders(failure), ...headers, "Content-Length": text.length });
  response.end(text, "latin1");
}

/** The title of a problem document, which depends on the status only. */
export function problemTitle(status: number): string {
  return titles[status] ?? "Error";
}

const titles: Readonly<Record<number, string>> = Object.freeze({
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  406: "Not acceptable",
  408: "Request timeout",
  409: "Conflict",
  412: "Changed meanwhile",
  413: "Too large",
  415: "Unsupported media type",
  422: "Refused as it is",
  429: "Too many requests",
  431: "Headers too large",
  499: "Cancelled",
  500: "Internal error",
  502: "The server behind failed",
  503: "Unavailable",
  504: "Timeout",
  507: "Out of storage",
  508: "Loop detected",
});
