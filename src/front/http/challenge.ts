import { prefixOf } from "./public-url.ts";

/** Where the metadata of protected resources is (RFC 9728, section 3). */
export const metadataPath = "/.well-known/oauth-protected-resource";

/**
 * Where a client learns how to get a token (2026-07-28, authorization; RFC 9728). `path` is that of an MCP endpoint,
 * whose metadata name exactly it: clients compare. Empty for everything else.
 */
export function toChallenge(publicUrl: string, path: string): string {
  return `Bearer realm="toolyard", error="invalid_token", resource_metadata="${publicUrl}${metadataPath}${path}"`;
}

/**
 * The resource whose metadata were asked for. `path` is what stands behind the well-known path: an endpoint's own
 * path, as the challenge has it; or, where a path stands in front of all of the gateway's, that one and the
 * endpoint's, as RFC 9728 puts it.
 */
export function toResource(publicUrl: string, path: string): string {
  const prefix = prefixOf(publicUrl);
  const rest = path.slice(prefix.length);
  const isWhole = prefix !== "" && path.startsWith(`${prefix}/`) && /^\/(?:mcp|sse|i)(?:\/|$)/.test(rest);
  return `${publicUrl}${isWhole ? rest : path === "" ? "/mcp" : path}`;
}
