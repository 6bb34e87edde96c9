import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import { flawOf, isSuccess, parseAnswer, textOf, textsOf, urlOf } from "./answer-members.ts";
import type { AuthorizationMetadata, Flow } from "../login-flow.ts";
import { checkUrl } from "../outgoing.ts";

/**
 * Asks the well-known places of `named`, in the order of the specification, for metadata that can be used. An answer
 * that is no JSON object does not count: many sites answer every path with a page. Undefined where there is none.
 * Rejects with LOGIN_FAILED: for a server that fails, and with the first reason why metadata that was found is not
 * used.
 */
export async function discoverAuthorizationMetadata(
  flow: Flow,
  named: string,
): Promise<AuthorizationMetadata | undefined> {
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
