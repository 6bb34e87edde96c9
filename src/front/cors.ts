import type { IncomingMessage } from "node:http";

/** For origins that passed the check; without Origin there is nothing to allow. */
export function corsHeaders(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined) return noHeaders;
  return {
    "Access-Control-Allow-Origin": origin,
    Vary: "Origin",
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers":
      "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, If-None-Match, X-App-Context",
    "Access-Control-Expose-Headers": "Mcp-Session-Id, ETag, Deprecation, Retry-After",
  };
}

const noHeaders: Record<string, string> = Object.freeze({});
