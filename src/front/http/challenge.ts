import type { IncomingMessage } from "node:http";

/** Where a client learns how to get a token (2026-07-28, authorization; RFC 9728). */
export function toChallenge(request: IncomingMessage): string {
  return `Bearer realm="toolyard", error="invalid_token", resource_metadata="http://${String(request.headers.host)}/.well-known/oauth-protected-resource"`;
}
