import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import type { Credential, Tokens } from "./credential.ts";
import type { Outgoing, OutgoingAnswer } from "./outgoing.ts";

export type Renewal =
  | { readonly kind: "tokens"; readonly tokens: Tokens; readonly scope: string | undefined }
  /** The authorization server does not take this login any more: only a person can help. */
  | { readonly kind: "ended"; readonly reason: string }
  /** It is down, or busy: later. */
  | { readonly kind: "unreachable"; readonly reason: string };

/**
 * The refresh grant (RFC 6749, section 6; OAuth 2.1, section 4.3), written here and not taken from the SDK, because
 * it runs inside the gateway: one form post against 28 MB. `nowMs` is the wall clock before the request was sent. It
 * is not cut short: what the authorization server sends must be kept. Rejects like {@link Outgoing}.
 */
export async function renewTokens(
  credential: Credential,
  refreshToken: string,
  outgoing: Outgoing,
  nowMs: number,
): Promise<Renewal> {
  const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
  if (credential.resource !== undefined) form.set("resource", credential.resource);
  const answer = await outgoing(
    credential.tokenEndpoint,
    clientForm(credential.client, form),
    new AbortController().signal,
  );
  const value = parseAnswer(answer);
  const tokens =
    answer.status >= 200 && answer.status < 300 && value !== undefined ? parseTokens(value, nowMs) : undefined;
  if (tokens !== undefined) {
    const scope = typeof value?.["scope"] === "string" ? value["scope"] : credential.scope;
    // Without rotation the old refresh token stays good.
    return { kind: "tokens", tokens: { ...tokens, refresh: tokens.refresh ?? refreshToken }, scope };
  }
  return toFailure(answer, value);
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

/** Reads a token answer; undefined when it is none. */
export function parseTokens(value: JsonObject, nowMs: number): Tokens | undefined {
  const { access_token: access, refresh_token: refresh, token_type: type, expires_in: expiresIn } = value;
  if (
    typeof access !== "string" ||
    !tokenText.test(access) ||
    typeof type !== "string" ||
    type.toLowerCase() !== "bearer"
  )
    return undefined;
  const seconds = typeof expiresIn === "string" ? Number(expiresIn) : expiresIn;
  const lifetimeMs =
    typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
  return {
    access,
    refresh: typeof refresh === "string" && refresh !== "" ? refresh : undefined,
    obtainedAtMs: nowMs,
    expiresAtMs: lifetimeMs === undefined ? undefined : nowMs + lifetimeMs,
  };
}

/** What can stand in a header; a token with a line break in it is an attack or a fault. */
const tokenText = /^[\x21-\x7e]+$/;

/** A form post of a client that says who it is (RFC 6749, section 2.3). `form` gets what belongs into it. */
export function clientForm({ id, secret, auth }: Credential["client"], form: URLSearchParams) {
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (auth === "client_secret_basic" && secret !== undefined)
    headers["authorization"] = `Basic ${Buffer.from(`${id}:${secret}`, "utf8").toString("base64")}`;
  else form.set("client_id", id);
  if (auth === "client_secret_post" && secret !== undefined) form.set("client_secret", secret);
  return { method: "POST", headers, body: form.toString() } as const;
}

/** The object in an answer; undefined when there is none. */
export function parseAnswer(answer: OutgoingAnswer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(answer.body.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Decided by status and error code (RFC 6749, section 5.2), never by a description. */
function toFailure(answer: OutgoingAnswer, value: JsonObject | undefined): Renewal {
  const error =
    typeof value?.["error"] === "string" && /^[a-z_]{1,60}$/.test(value["error"]) ? value["error"] : undefined;
  const reason = error ?? `HTTP ${answer.status}`;
  const isTransient =
    answer.status >= 500 ||
    answer.status === 429 ||
    answer.status === 408 ||
    error === "temporarily_unavailable" ||
    error === "server_error";
  // Some servers answer an error with HTTP 200; anything else that names no error may be a proxy's page.
  const isFinal = !isTransient && (error !== undefined || answer.status === 400 || answer.status === 401);
  return { kind: isFinal ? "ended" : "unreachable", reason };
}
