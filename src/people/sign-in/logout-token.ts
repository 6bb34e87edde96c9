import type { JWTPayload } from "jose";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Who is to be logged out. */
export interface LogoutRequest {
  readonly issuer: string;
  /** One session at the provider; undefined for all of the person. */
  readonly sid: string | undefined;
  readonly subject: string | undefined;
  /** The token's own name: it counts once. */
  readonly id: string;
  readonly expiresAtMs: number;
}

const event = "http://schemas.openid.net/event/backchannel-logout";

/**
 * What a logout token asks for (OpenID Connect Back-Channel Logout 1.0, section 2.6). Signature, issuer, audience and
 * times have been checked. Throws PROVIDER_ANSWER_INVALID.
 */
export function toLogoutRequest(claims: JWTPayload): LogoutRequest {
  const { iss, sub, jti, exp, sid, events, nonce } = claims;
  const isEvent = typeof events === "object" && events !== null && isObject((events as Record<string, unknown>)[event]);
  if (!isEvent) throw refuse("it is not the event of a logout");
  // With one it would be an ID token, which anybody may have who logged somebody in.
  if (nonce !== undefined) throw refuse("it has a nonce");
  const session = typeof sid === "string" && sid !== "" ? sid : undefined;
  const subject = typeof sub === "string" && sub !== "" ? sub : undefined;
  if (session === undefined && subject === undefined) throw refuse("it names neither a person nor a session");
  if (iss === undefined || typeof jti !== "string" || jti === "" || exp === undefined)
    throw refuse("iss, jti or exp is missing");
  return { issuer: iss, sid: session, subject, id: jti, expiresAtMs: exp * 1_000 };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(why: string): GatewayError {
  return new GatewayError("PROVIDER_ANSWER_INVALID", `the logout token cannot be trusted: ${why}`);
}
