import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from "@modelcontextprotocol/client";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { isLoopbackHost } from "./addresses.ts";
import { given, type AuthorizationServer, type Flow } from "./login-flow.ts";
import { checkUrl } from "./outgoing.ts";
import type { ResourceMetadata } from "./resource-metadata.ts";
import { explained, toFetch } from "./sdk-calls.ts";

/**
 * The first one that the resource names; a server without metadata of its own is asked itself (revision 2025-03-26).
 */
export async function findAuthorizationServer(
  { sdk, rules, outgoing, home, signal }: Flow,
  resource: ResourceMetadata | undefined,
): Promise<AuthorizationServer> {
  const url = resource?.authorizationServers[0] ?? `${home}/`;
  const { origin } = checkUrl(url, rules, home);
  const metadata = await explained(
    () => sdk.discoverAuthorizationServerMetadata(url, { fetchFn: toFetch(outgoing, signal) }),
    signal,
  );
  if (metadata === undefined)
    throw new GatewayError("LOGIN_FAILED", `${origin} publishes no metadata of an authorization server`);
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
  return { url, metadata };
}

export function revocationEndpointOf(metadata: AuthorizationServerMetadata): string | undefined {
  return "revocation_endpoint" in metadata && typeof metadata.revocation_endpoint === "string"
    ? metadata.revocation_endpoint
    : undefined;
}

/**
 * In the order of the specification: the user's own, the metadata document, dynamic registration. A new one for each
 * login: the port changes.
 */
export async function findClient(
  { sdk, options, outgoing, signal }: Flow,
  server: AuthorizationServer,
  { scope, redirectUrl }: { scope: string | undefined; redirectUrl: string },
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
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method:
      metadata.token_endpoint_auth_methods_supported?.includes("none") === false ? "client_secret_basic" : "none",
  };
  return await explained(
    () =>
      sdk.registerClient(server.url, {
        metadata,
        clientMetadata,
        ...given({ scope }),
        fetchFn: toFetch(outgoing, signal),
      }),
    signal,
  );
}
