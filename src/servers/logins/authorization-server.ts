import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from "@modelcontextprotocol/client";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { isJson } from "../../kernel/json-bytes.ts";
import { isLoopbackHost } from "./addresses.ts";
import { given, type AuthorizationServer, type Flow } from "./login-flow.ts";
import { checkUrl } from "./outgoing.ts";
import type { ResourceMetadata } from "./resource-metadata.ts";
import { explained, toFetch } from "./sdk-calls.ts";

/**
 * The first one that the resource names; a server without metadata of its own is asked itself (revision 2025-03-26).
 * Where neither publishes anything, the endpoints are where that revision says.
 */
export async function findAuthorizationServer(
  { sdk, rules, outgoing, home, signal }: Flow,
  resource: ResourceMetadata | undefined,
): Promise<AuthorizationServer> {
  const url = resource?.authorizationServers[0] ?? `${home}/`;
  const { origin } = checkUrl(url, rules, home);
  const published = await explained(
    () => sdk.discoverAuthorizationServerMetadata(url, { fetchFn: toFetch(outgoing, signal) }),
    signal,
  );
  if (published === undefined && resource !== undefined) throw withoutMetadata(origin);
  const metadata = published ?? assumedMetadata(origin);
  for (const endpoint of [
    metadata.authorization_endpoint,
    metadata.token_endpoint,
    metadata.registration_endpoint,
    revocationEndpointOf(metadata),
  ])
    if (endpoint !== undefined) checkUrl(endpoint, rules, home);
  // MCP, security considerations: without PKCE a stolen code is a stolen login, so a server that does not name it is
  // not used.
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true)
    throw new GatewayError("LOGIN_FAILED", `${origin} does not support PKCE with S256`);
  return { url, metadata, isAssumed: published === undefined };
}

function withoutMetadata(origin: string, cause?: unknown): GatewayError {
  return new GatewayError("LOGIN_FAILED", `${origin} publishes no metadata of an authorization server`, { cause });
}

/**
 * Whether a registration failed as it does where no authorization server is: with 404 or 405, or refused or answered
 * without JSON, which RFC 7591 has in every answer.
 */
function isNothingThere({ cause }: { readonly cause?: unknown }): boolean {
  if (!(cause instanceof Error)) return false;
  if (!("status" in cause && typeof cause.status === "number")) return cause.name === "SyntaxError";
  if (cause.status === 404 || cause.status === 405) return true;
  // Too many requests, or a failure of its own: somebody is there.
  if (cause.status === 429 || cause.status >= 500) return false;
  return "body" in cause && typeof cause.body === "string" && !isJson(cause.body);
}

/**
 * MCP 2025-03-26, authorization, fallbacks for servers without metadata. That revision makes PKCE a duty of everybody,
 * so that it is used although nobody names it.
 */
function assumedMetadata(origin: string): AuthorizationServerMetadata {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  };
}

export function revocationEndpointOf(metadata: AuthorizationServerMetadata): string | undefined {
  return "revocation_endpoint" in metadata && typeof metadata.revocation_endpoint === "string"
    ? metadata.revocation_endpoint
    : undefined;
}

interface WantedClient {
  readonly scope: string | undefined;
  readonly redirectUrl: string;
  readonly grantTypes?: string[];
}

/**
 * In the order of the specification: the user's own, the metadata document, dynamic registration. A new one for each
 * login: the port changes.
 */
export async function findClient(
  { sdk, options, outgoing, signal }: Flow,
  server: AuthorizationServer,
  { scope, redirectUrl, grantTypes = ["authorization_code", "refresh_token"] }: WantedClient,
): Promise<OAuthClientInformationMixed> {
  const { metadata } = server;
  if (options.client !== undefined)
    return {
      client_id: options.client.id,
      ...(options.client.secret === undefined ? {} : { client_secret: options.client.secret }),
    };
  if (
    options.clientMetadataUrl !== undefined &&
    "client_id_metadata_document_supported" in metadata &&
    metadata.client_id_metadata_document_supported === true
  )
    return { client_id: options.clientMetadataUrl };
  if (metadata.registration_endpoint === undefined) {
    throw new GatewayError("LOGIN_FAILED", `${new URL(server.url).origin} lets no client register itself`, {
      hint: "Register one there for a native application, and give its id with --client-id.",
    });
  }
  const clientMetadata = {
    client_name: "Toolyard",
    redirect_uris: [redirectUrl],
    application_type: isLoopbackHost(new URL(redirectUrl).hostname) ? "native" : "web",
    grant_types: grantTypes,
    response_types: ["code"],
    token_endpoint_auth_method:
      metadata.token_endpoint_auth_methods_supported?.includes("none") === false ? "client_secret_basic" : "none",
  };
  const request = { metadata, clientMetadata, ...given({ scope }), fetchFn: toFetch(outgoing, signal) };
  try {
    return await explained(() => sdk.registerClient(server.url, request), signal);
  } catch (error) {
    // Nothing is where it was looked for: a server that wants a key, and knows no logins, is the usual reason. Whatever
    // else fails is said as it is.
    if (server.isAssumed && error instanceof GatewayError && isNothingThere(error))
      throw withoutMetadata(new URL(server.url).origin, error);
    throw error;
  }
}
