import { scopes, wantedScope } from "../../engine/policy/scopes.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { prefixOf } from "./public-url.ts";

/** Where the metadata of protected resources is (RFC 9728, section 3). */
export const metadataPath = "/.well-known/oauth-protected-resource";

/** What most apps need: to look, and to call tools. */
export const usualScopes = scopes.slice(0, 2);
const usual = usualScopes.join(" ");

/**
 * Where a client learns how to get a token (2026-07-28, authorization; RFC 9728). `path` is that of an MCP endpoint.
 * Its metadata name exactly this path, because clients compare the two. Empty for any other path.
 */
export function toChallenge(publicUrl: string, path: string): string {
  return (
    `Bearer realm="toolyard", error="invalid_token", scope="${usual}", ` +
    `resource_metadata="${publicUrl}${metadataPath}${path}"`
  );
}

/**
 * What a request with a valid credential needs in addition (RFC 6750, section 3.1; 2026-07-28, authorization). `scope`
 * is everything that the operation needs, because a client asks for exactly that.
 */
export function toStepUp(publicUrl: string, path: string, scope: string): string {
  return (
    `Bearer realm="toolyard", error="insufficient_scope", scope="${scope}", ` +
    `resource_metadata="${publicUrl}${metadataPath}${path}"`
  );
}

/** The challenge that goes with a failure, if it has one. */
export function challengeOf(failure: GatewayError, publicUrl: () => string, path: string): string | undefined {
  if (failure.code === "UNAUTHORIZED") return toChallenge(publicUrl(), path);
  const scope = wantedScope(failure);
  return scope === undefined ? undefined : toStepUp(publicUrl(), path, scope);
}

/**
 * The resource whose metadata was requested. `path` is the part after the well-known path: an endpoint's own path, as
 * in the challenge; or, where the gateway itself is below a path, that path followed by the endpoint's, as RFC 9728
 * builds it.
 */
export function toResource(publicUrl: string, path: string): string {
  const prefix = prefixOf(publicUrl);
  const rest = path.slice(prefix.length);
  const isWhole = prefix !== "" && path.startsWith(`${prefix}/`) && /^\/(?:mcp|sse|i)(?:\/|$)/.test(rest);
  return `${publicUrl}${isWhole ? rest : path === "" ? "/mcp" : path}`;
}
