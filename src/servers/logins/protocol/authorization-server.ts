import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { AuthorizationMetadata, AuthorizationServer, Flow } from "../login-flow.ts";
import { checkUrl } from "../outgoing.ts";
import type { ResourceMetadata } from "./resource-metadata.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import { flawOf, isSuccess, parseAnswer, textOf, textsOf, urlOf } from "./answer-members.ts";

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

/**
 * Asks the well-known places of `named`, in the order of the specification, for metadata that can be used. An answer
 * that is no JSON object does not count: many sites answer every path with a page. Undefined where there is none.
 * Rejects with LOGIN_FAILED: for a server that fails, and with the first reason why metadata that was found is not
 * used.
 */
async function discoverAuthorizationMetadata(flow: Flow, named: string): Promise<AuthorizationMetadata | undefined> {
  let problem: GatewayError | undefined;
  for (const url of wellKnownUrls(named)) {
    const headers = { "mcp-protocol-version": modernRevision };
    const answer = await flow.outgoing(url, { method: "GET", headers }, flow.signal);
    const value = isSuccess(answer) ? parseAnswer(answer) : undefined;
    try {
      if (value !== undefined) return parseMetadata(flow, named, value);
      if (answer.status >= 500) problem ??= refusal(named, `answered with HTTP ${answer.status}`);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problem ??= error;
    }
  }
  if (problem !== undefined) throw problem;
  return undefined;
}

/** RFC 8414, section 3.1, and OpenID Connect Discovery, section 4, for issuers with and without a path. */
function wellKnownUrls(named: string): readonly string[] {
  const { origin, pathname } = new URL(named);
  const path = pathname.replace(/\/$/, "");
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return path === "" ? urls : [...urls, `${origin}${path}/.well-known/openid-configuration`];
}

/** Throws LOGIN_FAILED, which names the member that is missing or wrong. */
function parseMetadata(flow: Flow, named: string, value: JsonObject): AuthorizationMetadata {
  const needed = (member: string, found: string | undefined): string => {
    if (found !== undefined) return found;
    const { origin } = new URL(named);
    throw new GatewayError(
      "LOGIN_FAILED",
      `the metadata of the authorization server ${origin} ${flawOf(value, member)}`,
    );
  };
  const issuer = needed("issuer", textOf(value, "issuer"));
  if (!isSameIssuer(named, issuer)) {
    const whose = URL.canParse(issuer) ? `on ${new URL(issuer).origin}` : "no URL";
    throw refusal(named, `publishes metadata that is that of another one: its issuer is ${whose}`);
  }
  // MCP, security considerations: without PKCE a stolen code is a stolen login, so a server that does not name it is
  // not used.
  if (!textsOf(value, "code_challenge_methods_supported").includes("S256"))
    throw refusal(named, "does not support PKCE with S256: code_challenge_methods_supported does not name it");
  const endpoint = (member: string): string | undefined => {
    const url = urlOf(value, member);
    if (url !== undefined) checkEndpoint(flow, member, url);
    return url;
  };
  return {
    issuer,
    authorizationEndpoint: endpoint("authorization_endpoint"),
    tokenEndpoint: needed("token_endpoint", endpoint("token_endpoint")),
    registrationEndpoint: endpoint("registration_endpoint"),
    revocationEndpoint: endpoint("revocation_endpoint"),
    deviceEndpoint: endpoint("device_authorization_endpoint"),
    authMethods: textsOf(value, "token_endpoint_auth_methods_supported"),
    scopes: textsOf(value, "scopes_supported"),
    takesClientDocuments: value["client_id_metadata_document_supported"] === true,
    namesIssuer: value["authorization_response_iss_parameter_supported"] === true,
  };
}

function checkEndpoint({ rules, home }: Flow, member: string, url: string): void {
  try {
    checkUrl(url, rules, home);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError("LOGIN_FAILED", `the authorization server's ${member} is not used: ${error.message}`, {
      cause: error,
    });
  }
}

function refusal(named: string, what: string): GatewayError {
  return new GatewayError("LOGIN_FAILED", `${new URL(named).origin} ${what}`);
}

/**
 * RFC 8414, section 3.3: issuers are compared as they are written. Only the slash of one without a path means nothing
 * (RFC 3986, section 6.2.3); of one with a path, a slash may be missing that the server that names it has added.
 */
function isSameIssuer(named: string, issuer: string): boolean {
  return withoutRootSlash(named) === withoutRootSlash(issuer) || named === `${issuer}/`;
}

function withoutRootSlash(issuer: string): string {
  return issuer.replace(/^(https?:\/\/[^/?#]+)\/$/i, "$1");
}
