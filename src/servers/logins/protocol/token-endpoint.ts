import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { errorCodeOf, flawOf, isSuccess, millisecondsOf, parseAnswer, textOf, textsOf } from "./answer-members.ts";
import type { Credential, Tokens } from "../credential.ts";
import type { Outgoing } from "../outgoing.ts";

/** What a token endpoint said: to a code of the browser, to a code that was typed elsewhere, or to a refresh token. */
export type TokenAnswer =
  | {
      readonly kind: "tokens";
      readonly tokens: Tokens;
      /** Undefined where it is what was asked for. */
      readonly scope: string | undefined;
    }
  | {
      readonly kind: "refused";
      readonly status: number;
      /** A code of RFC 6749, section 5.2, or of an extension. */
      readonly error: string | undefined;
      /** The code, the status, or what the answer lacks. */
      readonly reason: string;
    };

export interface TokenRequest {
  readonly endpoint: string;
  readonly client: Credential["client"];
  readonly form: URLSearchParams;
  /** Wall clock before the request is sent, ms: tokens expire counted from then. */
  readonly nowMs: number;
}

/**
 * One request to a token endpoint (RFC 6749, section 5). Of the answer, `access_token` is needed, and `expires_in`,
 * `refresh_token` and `scope` are used where they are what they should be; everything else is ignored, whatever its
 * type. An error with HTTP 200 is an error. Rejects like {@link Outgoing}.
 */
export async function askForTokens(
  { endpoint, client, form, nowMs }: TokenRequest,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const answer = await outgoing(endpoint, clientForm(client, form), signal);
  const value = parseAnswer(answer);
  const error = errorCodeOf(value);
  const { status } = answer;
  if (!isSuccess(answer)) return { kind: "refused", status, error, reason: error ?? `HTTP ${status}` };
  const access = textOf(value, "access_token");
  const flaw = tokenFlaw(value, access);
  if (access === undefined || flaw !== undefined)
    return { kind: "refused", status, error, reason: error ?? `the token answer ${flaw}` };
  const lifetimeMs = millisecondsOf(value, "expires_in");
  const scopes = textsOf(value, "scope");
  return {
    kind: "tokens",
    tokens: {
      access,
      refresh: textOf(value, "refresh_token"),
      obtainedAtMs: nowMs,
      expiresAtMs: lifetimeMs === undefined ? undefined : nowMs + lifetimeMs,
    },
    scope: scopes.length === 0 ? undefined : scopes.join(" "),
  };
}

/** What can stand in a header; a token with a line break in it is an attack or a fault. */
const tokenText = /^[\x21-\x7e]+$/;

/** Types of tokens that are of no use without a proof of a key (RFC 9449, RFC 6749 section 7.1). */
const needProof = /^(dpop|pop|mac)$/i;

/**
 * Every client sends the token as Bearer, so a type of the server's own ("user", "token") is one too; only those that
 * need more are refused.
 */
function tokenFlaw(value: JsonObject | undefined, access: string | undefined): string | undefined {
  if (access === undefined || !tokenText.test(access)) return flawOf(value, "access_token");
  return needProof.test(textOf(value, "token_type")?.trim() ?? "") ? "has a token_type that is not Bearer" : undefined;
}

/** A form post of a client that says who it is (RFC 6749, section 2.3). `form` gets what belongs into it. */
export function clientForm({ id, secret, auth }: Credential["client"], form: URLSearchParams) {
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (auth === "client_secret_basic" && secret !== undefined)
    headers["authorization"] = `Basic ${Buffer.from(`${id}:${secret}`, "utf8").toString("base64")}`;
  else form.set("client_id", id);
  if (auth === "client_secret_post" && secret !== undefined) form.set("client_secret", secret);
  return { method: "POST", headers, body: form.toString() } as const;
}
