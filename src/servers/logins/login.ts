import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from "@modelcontextprotocol/client";
import { randomBytes } from "node:crypto";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { addressRulesFor } from "./addresses.ts";
import { askDevice } from "./ask-device.ts";
import { askPerson, type Grant } from "./ask-person.ts";
import { findAuthorizationServer, revocationEndpointOf } from "./authorization-server.ts";
import type { Credential } from "./credential.ts";
import { given, type AuthorizationServer, type Flow, type LoginOptions, type Wish } from "./login-flow.ts";
import { createOutgoing } from "./outgoing.ts";
import { parseTokens } from "./renew.ts";
import { fetchResourceMetadata, probe, type Challenge, type ResourceMetadata } from "./resource-metadata.ts";
import { explained, toFetch } from "./sdk-calls.ts";

/**
 * The authorization code flow with PKCE for one server (MCP 2026-07-28, authorization): metadata of the resource and
 * of its authorization server, registration, browser, callback on this machine, tokens, and a try. With `device`, the
 * person uses a browser elsewhere. Rejects with LOGIN_FAILED, which holds no secret, or the signal's reason.
 */
export async function logIn(options: LoginOptions, signal: AbortSignal): Promise<Credential> {
  const rules = await addressRulesFor(options.serverUrl);
  const outgoing = createOutgoing(rules, options);
  const challenge = await probe(options.serverUrl, options.headers, outgoing, signal);
  const resource = await fetchResourceMetadata(options.serverUrl, challenge, outgoing, signal);
  if (resource === undefined && challenge.status !== 401)
    throw new GatewayError("LOGIN_FAILED", `the server asks for no login: it answered with HTTP ${challenge.status}`);
  const flow: Flow = {
    sdk: await import("./sdk.ts"),
    options,
    rules,
    outgoing,
    home: new URL(options.serverUrl).origin,
    signal,
  };
  const server = await findAuthorizationServer(flow, resource);
  const wish = {
    resource: resource?.resource,
    scope: chooseScope(options, challenge, resource, server.metadata),
  };
  const grant =
    options.device === undefined
      ? await redeem(flow, server, wish, await askPerson(flow, server, wish))
      : await askDevice(flow, server, wish);
  const credential = toCredential(flow, server, wish, grant);
  await tryToken(flow, credential.tokens.access);
  return credential;
}

/**
 * MCP, scope selection: the challenge's, otherwise all that the resource names; and a refresh token where one has to
 * be asked for.
 */
function chooseScope(
  options: LoginOptions,
  challenge: Challenge,
  resource: ResourceMetadata | undefined,
  metadata: AuthorizationServerMetadata,
): string | undefined {
  const scopes = new Set(
    (options.scope ?? challenge.scope ?? resource?.scopes.join(" ") ?? "").split(/\s+/).filter((scope) => scope !== ""),
  );
  if (scopes.size > 0 && metadata.scopes_supported?.includes("offline_access") === true) scopes.add("offline_access");
  return scopes.size === 0 ? undefined : [...scopes].join(" ");
}

interface Given {
  readonly client: OAuthClientInformationMixed;
  /** Of the token endpoint. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** When it was asked for: wall clock, ms. */
  readonly askedAtMs: number;
}

async function redeem(
  { sdk, options, outgoing, signal }: Flow,
  { url, metadata }: AuthorizationServer,
  wish: Wish,
  { client, ...grant }: Grant,
): Promise<Given> {
  const askedAtMs = options.now();
  const request = {
    metadata,
    clientInformation: client,
    authorizationCode: grant.code,
    codeVerifier: grant.codeVerifier,
    redirectUri: grant.redirectUrl,
    fetchFn: toFetch(outgoing, signal),
    ...given({ iss: grant.iss, resource: wish.resource }),
  };
  const answer = await explained(() => sdk.exchangeAuthorization(url, request), signal);
  return { client, answer, askedAtMs };
}

function toCredential(
  { sdk, options }: Flow,
  { metadata }: AuthorizationServer,
  wish: Wish,
  { client, answer, askedAtMs }: Given,
): Credential {
  const tokens = parseTokens(answer, askedAtMs);
  if (tokens === undefined)
    throw new GatewayError("LOGIN_FAILED", `${new URL(metadata.token_endpoint).origin} gave no bearer token`);
  return {
    loginId: randomBytes(16).toString("hex"),
    serverUrl: options.serverUrl,
    resource: wish.resource,
    issuer: metadata.issuer,
    tokenEndpoint: metadata.token_endpoint,
    revocationEndpoint: revocationEndpointOf(metadata),
    client: {
      id: client.client_id,
      secret: client.client_secret,
      auth: sdk.selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? []),
    },
    scope: typeof answer["scope"] === "string" ? answer["scope"] : wish.scope,
    tokens,
  };
}

/** A login that the server does not take is none: better said here than found out by a call. */
async function tryToken({ options, outgoing, signal }: Flow, token: string): Promise<void> {
  const { status } = await probe(
    options.serverUrl,
    { ...options.headers, authorization: `Bearer ${token}` },
    outgoing,
    signal,
  );
  if (status !== 401) return;
  throw new GatewayError(
    "LOGIN_FAILED",
    "the server refuses the token that its own authorization server has just given",
    { hint: "Report it to whoever runs the server; nothing was kept." },
  );
}
