import type { Credential, Tokens } from "./credential.ts";
import type { Outgoing } from "./outgoing.ts";
import { askForTokens, clientForm, type TokenAnswer } from "./protocol/token-endpoint.ts";

export type Renewal =
  | { readonly kind: "tokens"; readonly tokens: Tokens; readonly scope: string | undefined }
  /** The authorization server does not take this login any more: only a person can help. */
  | { readonly kind: "ended"; readonly reason: string }
  /** It is down, or busy: later. */
  | { readonly kind: "unreachable"; readonly reason: string };

/**
 * The refresh grant (RFC 6749, section 6; OAuth 2.1, section 4.3). `nowMs` is the wall clock before the request was
 * sent. It is not cut short: what the authorization server sends must be kept. Rejects like {@link Outgoing}.
 */
export async function renewTokens(
  { tokenEndpoint: endpoint, client, resource, scope }: Credential,
  refreshToken: string,
  outgoing: Outgoing,
  nowMs: number,
): Promise<Renewal> {
  const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
  if (resource !== undefined) form.set("resource", resource);
  const answer = await askForTokens({ endpoint, client, form, nowMs }, outgoing, new AbortController().signal);
  if (answer.kind === "refused") return toFailure(answer);
  const { tokens } = answer;
  // Without rotation the old refresh token stays good.
  return {
    kind: "tokens",
    tokens: { ...tokens, refresh: tokens.refresh ?? refreshToken },
    scope: answer.scope ?? scope,
  };
}

/** Tells the authorization server that the login is over (RFC 7009). Whether it listens changes nothing here. */
export async function revokeTokens(credential: Credential, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
  if (credential.revocationEndpoint === undefined) return;
  const form = new URLSearchParams(
    credential.tokens.refresh === undefined
      ? { token: credential.tokens.access, token_type_hint: "access_token" }
      : { token: credential.tokens.refresh, token_type_hint: "refresh_token" },
  );
  await outgoing(credential.revocationEndpoint, clientForm(credential.client, form), signal);
}

/** Decided by status and error code (RFC 6749, section 5.2), never by a description. */
function toFailure({ status, error, reason }: Extract<TokenAnswer, { readonly kind: "refused" }>): Renewal {
  const isTransient =
    status >= 500 ||
    status === 429 ||
    status === 408 ||
    error === "temporarily_unavailable" ||
    error === "server_error";
  // Some servers answer an error with HTTP 200; anything else that names no error may be a proxy's page.
  const isFinal = !isTransient && (error !== undefined || status === 400 || status === 401);
  return { kind: isFinal ? "ended" : "unreachable", reason };
}
