import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from "@modelcontextprotocol/client";
import { abortAfter } from "../../kernel/abort.ts";
import { randomBytes } from "node:crypto";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { findClient } from "./authorization-server.ts";
import { loginTimeoutMs } from "./login-limits.ts";
import { given, type AuthorizationServer, type Flow, type Sdk, type Wish } from "./login-flow.ts";
import { checkUrl } from "./outgoing.ts";
import { errorCode, explained } from "./sdk-calls.ts";

/** What comes back from the browser, with what is needed to redeem it. */
export interface Grant {
  readonly code: string;
  readonly iss: string | undefined;
  readonly codeVerifier: string;
  readonly client: OAuthClientInformationMixed;
  readonly redirectUrl: string;
}

/** Sends the person to the authorization server, once, and waits for the answer. */
export async function askPerson(flow: Flow, server: AuthorizationServer, wish: Wish): Promise<Grant> {
  const { sdk, options, signal } = flow;
  await using callback = await options.openCallback();
  const { redirectUrl } = callback;
  const client = await findClient(flow, server, { scope: wish.scope, redirectUrl });
  const state = randomBytes(32).toString("base64url");
  const start = { metadata: server.metadata, clientInformation: client, redirectUrl, state, ...given(wish) };
  const { authorizationUrl, codeVerifier } = await explained(() => sdk.startAuthorization(server.url, start), signal);
  const response = callback.response(state, abortAfter(loginTimeoutMs, signal));
  response.catch(() => undefined);
  options.open(checkUrl(authorizationUrl.href, flow.rules, flow.home).href);
  return { ...readResponse(sdk, await inTime(response, signal), server.metadata), codeVerifier, client, redirectUrl };
}

/**
 * RFC 9207 before anything else: of a response that comes from another authorization server nothing is used or shown.
 */
function readResponse(
  sdk: Sdk,
  query: URLSearchParams,
  metadata: AuthorizationServerMetadata,
): { readonly code: string; readonly iss: string | undefined } {
  const iss = query.get("iss") ?? undefined;
  try {
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    });
  } catch (error) {
    throw new GatewayError(
      "LOGIN_FAILED",
      "the answer in the browser came from another authorization server than the one that was asked; it was not used",
      { cause: error },
    );
  }
  const code = query.get("code");
  if (code !== null && code !== "") return { code, iss };
  throw new GatewayError("LOGIN_FAILED", `the authorization server refused: ${errorCode(query.get("error"))}`);
}

async function inTime(response: Promise<URLSearchParams>, signal: AbortSignal): Promise<URLSearchParams> {
  try {
    return await response;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new GatewayError("LOGIN_FAILED", `nobody finished in the browser within ${loginTimeoutMs / 60_000} minutes`, {
      cause: error,
    });
  }
}
