import { createHash, randomBytes } from "node:crypto";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isLoopbackHost } from "../protocol/addresses.ts";
import { describeError } from "../protocol/answer-members.ts";
import type { Credential } from "../credential.ts";
import { findClient } from "../protocol/find-client.ts";
import { loginTimeoutMs } from "./login-route.ts";
import type { AuthorizationMetadata, AuthorizationServer, Flow, Wish } from "../login-flow.ts";
import { checkUrl } from "../outgoing.ts";
import { askForTokens, type TokenAnswer } from "../protocol/token-endpoint.ts";

/** What a token endpoint said, and to which client. */
export interface Grant {
  readonly client: Credential["client"];
  readonly answer: TokenAnswer;
}

/**
 * The authorization code flow (OAuth 2.1, section 4.1): sends the person to the authorization server, once, waits for
 * the answer, and redeems it.
 */
export async function askPerson(flow: Flow, server: AuthorizationServer, wish: Wish): Promise<Grant> {
  const { options, signal } = flow;
  const { metadata } = server;
  const { authorizationEndpoint, tokenEndpoint: endpoint } = metadata;
  if (authorizationEndpoint === undefined)
    throw new GatewayError("LOGIN_FAILED", `${server.origin} names no authorization_endpoint that could be opened`);
  checkEncrypted(endpoint);
  await using callback = await options.openCallback();
  const { redirectUrl } = callback;
  const client = await findClient(flow, server, { scope: wish.scope, redirectUrl });
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(32).toString("base64url");
  const url = toAuthorizationUrl(authorizationEndpoint, wish, { id: client.id, redirectUrl, state, verifier });
  const response = callback.response(state, abortAfter(loginTimeoutMs, signal));
  response.catch(() => undefined);
  options.open(checkUrl(url, flow.rules, flow.home).href);
  const code = readResponse(await inTime(response, signal), metadata);
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    ...{ code, code_verifier: verifier, redirect_uri: redirectUrl },
    ...(wish.resource === undefined ? {} : { resource: wish.resource }),
  });
  const answer = await askForTokens({ endpoint, client, form, nowMs: options.now() }, flow.outgoing, signal);
  return { client, answer };
}

interface Question {
  readonly id: string;
  readonly redirectUrl: string;
  readonly state: string;
  /** RFC 7636, section 4.1: the authorization server gets its hash now, and itself with the code. */
  readonly verifier: string;
}

function toAuthorizationUrl(endpoint: string, { scope, resource }: Wish, question: Question): string {
  const url = new URL(endpoint);
  const parameters: Readonly<Record<string, string | undefined>> = {
    response_type: "code",
    client_id: question.id,
    code_challenge: createHash("sha256").update(question.verifier).digest("base64url"),
    code_challenge_method: "S256",
    redirect_uri: question.redirectUrl,
    state: question.state,
    scope,
    // OpenID Connect, section 11: without it, no refresh token is given for that scope.
    prompt: scope?.split(" ").includes("offline_access") === true ? "consent" : undefined,
    resource,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/**
 * MCP, authorization: a code is redeemed over TLS, even where the server itself is reached without. What stays on this
 * machine needs none (`*.localhost`: RFC 6761, section 6.3).
 */
function checkEncrypted(endpoint: string): void {
  const { protocol, hostname, origin } = new URL(endpoint);
  if (protocol === "https:" || isLoopbackHost(hostname) || hostname.endsWith(".localhost")) return;
  throw new GatewayError("LOGIN_FAILED", `the token_endpoint on ${origin} is not encrypted: a login goes over https`);
}

/**
 * RFC 9207 before anything else: of a response that comes from another authorization server nothing is used or shown.
 * The issuer is compared with the one of the metadata as it is written (section 2.4), also to the slash at its end.
 */
function readResponse(query: URLSearchParams, { issuer, namesIssuer }: AuthorizationMetadata): string {
  const named = query.get("iss");
  if (named === null ? namesIssuer : named !== issuer)
    throw new GatewayError(
      "LOGIN_FAILED",
      "the answer in the browser came from another authorization server than the one that was asked; it was not used",
    );
  const code = query.get("code");
  if (code !== null && code !== "") return code;
  const error = describeError({ error: query.get("error") });
  throw new GatewayError("LOGIN_FAILED", `the authorization server refused: ${error}`);
}

async function inTime(response: Promise<URLSearchParams>, signal: AbortSignal): Promise<URLSearchParams> {
  try {
    return await response;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new GatewayError(
      "LOGIN_FAILED",
      `the login was not finished in the browser within ${loginTimeoutMs / 60_000} minutes`,
      {
        cause: error,
      },
    );
  }
}
