import type { IncomingMessage } from "node:http";

/** For origins that have passed the check. Without an Origin there is nothing to allow. */
export function corsHeaders(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined) return noHeaders;
  return {
    "Access-Control-Allow-Origin": origin,
    Vary: "Origin",
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": [...allowedHeaders, ...parameterHeaders(request)].join(", "),
    "Access-Control-Expose-Headers": "Mcp-Session-Id, ETag, Deprecation, Retry-After, WWW-Authenticate",
  };
}

const allowedHeaders = [
  ...["Authorization", "Content-Type", "Accept", "Last-Event-ID", "Mcp-Session-Id", "Mcp-Protocol-Version"],
  ...["Mcp-Method", "Mcp-Name", "If-None-Match", "If-Match", "X-App-Context"],
];

/**
 * Arguments that a tool wants as headers are named by the tool (2026-07-28), and a CORS answer has to list names,
 * because it allows no pattern.
 */
function parameterHeaders(request: IncomingMessage): readonly string[] {
  const asked = request.headers["access-control-request-headers"] ?? "";
  return asked
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name));
}

const noHeaders: Record<string, string> = Object.freeze({});
