import { randomBytes } from "node:crypto";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { addressRulesFor } from "./protocol/addresses.ts";
import { askDevice } from "./flow/ask-device.ts";
import { askPerson, type Grant } from "./flow/ask-person.ts";
import { findAuthorizationServer } from "./protocol/authorization-server.ts";
import type { Credential } from "./credential.ts";
import type { AuthorizationServer, Flow, LoginOptions, Wish } from "./login-flow.ts";
import { createOutgoing } from "./outgoing.ts";
import { fetchResourceMetadata, probe, type Challenge, type ResourceMetadata } from "./protocol/resource-metadata.ts";

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
    options,
    rules,
    outgoing,
    home: new URL(options.serverUrl).origin,
    signal,
  };
  const server = await findAuthorizationServer(flow, resource);
  const wish = {
    resource: resource?.resource,
    scope: chooseScope(options, challenge, resource, server.metadata.scopes),
  };
  const ask = options.device === undefined ? askPerson : askDevice;
  const grant = await ask(flow, server, wish);
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
  offered: readonly string[],
): string | undefined {
  const scopes = new Set(
    (options.scope ?? challenge.scope ?? resource?.scopes.join(" ") ?? "").split(/\s+/).filter((scope) => scope !== ""),
  );
  if (scopes.size > 0 && offered.includes("offline_access")) scopes.add("offline_access");
  return scopes.size === 0 ? undefined : [...scopes].join(" ");
}

function toCredential(
  { options }: Flow,
  { metadata }: AuthorizationServer,
  wish: Wish,
  { client, answer }: Grant,
): Credential {
  if (answer.kind === "refused")
    throw new GatewayError("LOGIN_FAILED", `${new URL(metadata.tokenEndpoint).origin} gave no token: ${answer.reason}`);
  return {
    loginId: randomBytes(16).toString("hex"),
    serverUrl: options.serverUrl,
    resource: wish.resource,
    issuer: metadata.issuer,
    tokenEndpoint: metadata.tokenEndpoint,
    revocationEndpoint: metadata.revocationEndpoint,
    client,
    scope: answer.scope ?? wish.scope,
    tokens: answer.tokens,
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
    { hint: "Report it to the operator of the server; nothing was kept." },
  );
}
