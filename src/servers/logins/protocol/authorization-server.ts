import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { discoverAuthorizationMetadata } from "./authorization-metadata.ts";
import type { AuthorizationMetadata, AuthorizationServer, Flow } from "../login-flow.ts";
import { checkUrl } from "../outgoing.ts";
import type { ResourceMetadata } from "./resource-metadata.ts";

/** A person waits for the login, and a server that is down may take 15 s to show it. */
const mostServers = 3;

/**
 * The first of those that the resource names that can be used: another one may be down. Where it names none, the server
 * itself is asked, and where that publishes nothing, the endpoints are where revision 2025-03-26 puts them. Rejects
 * with LOGIN_FAILED for the first one, or the signal's reason.
 */
export async function findAuthorizationServer(
  flow: Flow,
  resource: ResourceMetadata | undefined,
): Promise<AuthorizationServer> {
  const named = resource?.authorizationServers ?? [];
  if (named.length === 0) return await findOwn(flow);
  // The user registered the client at one server: its id and secret are not sent to another.
  const tried = named.slice(0, flow.options.client === undefined ? mostServers : 1);
  let problem: GatewayError | undefined;
  for (const url of tried) {
    try {
      return await findNamed(flow, url);
    } catch (error) {
      if (flow.signal.aborted || !(error instanceof GatewayError)) throw error;
      problem ??= error;
    }
  }
  throw problem ?? withoutMetadata(flow.home);
}

async function findNamed(flow: Flow, url: string): Promise<AuthorizationServer> {
  const { origin } = checkUrl(url, flow.rules, flow.home);
  const metadata = await discoverAuthorizationMetadata(flow, url);
  if (metadata === undefined) throw withoutMetadata(origin);
  return { origin, metadata, isAssumed: false };
}

async function findOwn(flow: Flow): Promise<AuthorizationServer> {
  const origin = flow.home;
  const published = await discoverAuthorizationMetadata(flow, origin);
  return { origin, metadata: published ?? assumedMetadata(origin), isAssumed: published === undefined };
}

export function withoutMetadata(origin: string, cause?: unknown): GatewayError {
  return new GatewayError("LOGIN_FAILED", `${origin} publishes no metadata of an authorization server`, { cause });
}

/**
 * MCP 2025-03-26, authorization, fallbacks for servers without metadata. That revision requires PKCE, so it is used
 * although no metadata names it.
 */
function assumedMetadata(origin: string): AuthorizationMetadata {
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: undefined,
    deviceEndpoint: undefined,
    authMethods: [],
    scopes: [],
    takesClientDocuments: false,
    namesIssuer: false,
  };
}
