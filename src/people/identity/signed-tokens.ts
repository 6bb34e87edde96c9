import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from "jose";
import type { TrustedIssuers } from "./trusted-issuers.ts";

/** What a JWT has to be beside signed by the issuer that it names. */
export interface SignedTokenRules {
  /** The kinds that are taken, in lower case and without `application/`; "" for a token that names none. */
  readonly kinds: ReadonlySet<string>;
  readonly algorithms: readonly string[];
  /** Claims without which it is not taken, beside `iss`, `sub` and `exp`. */
  readonly claims?: readonly string[];
}

/** Claims whose signature, issuer, times and kind were checked. */
export type CheckedClaims = JWTPayload & { readonly iss: string; readonly sub: string; readonly exp: number };

/** Clocks of two machines differ by so much at most. */
export const skewMs = 60_000;

/** What a JWT looks like; any other text is an opaque token. */
export function isSignedToken(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/**
 * The claims of a token; undefined for one that is not good, for whatever reason. Keys come from the issuer's own
 * metadata, never from what the token names (`jku`, `jwk`, `x5u`). Rejects with LOGIN_FAILED while the issuer cannot be
 * asked.
 */
export async function checkSignedToken(
  token: string,
  issuers: TrustedIssuers,
  { kinds, algorithms, claims = [] }: SignedTokenRules,
): Promise<CheckedClaims | undefined> {
  const issuer = issuerOf(token, kinds, algorithms);
  if (issuer === undefined || !issuers.has(issuer)) return undefined;
  const keys = await issuers.keysOf(issuer);
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      algorithms: [...algorithms],
      clockTolerance: skewMs / 1_000,
      requiredClaims: ["iss", "sub", "exp", ...claims],
    });
    return typeof payload.sub === "string" && payload.sub !== "" ? (payload as CheckedClaims) : undefined;
  } catch (error) {
    // The fault of the token is not told; that the keys are out of reach is our failure.
    if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) {
      if (error.code !== "ERR_JOSE_GENERIC" && error.code !== "ERR_JWKS_INVALID") return undefined;
    }
    throw error;
  }
}

/** Looked at before anything is fetched or computed. Undefined where it cannot be one of ours to check. */
function issuerOf(token: string, kinds: ReadonlySet<string>, algorithms: readonly string[]): string | undefined {
  try {
    const { typ = "", alg = "" } = decodeProtectedHeader(token);
    const kind = typ.toLowerCase().replace(/^application\//, "");
    return kinds.has(kind) && algorithms.includes(alg) ? decodeJwt(token).iss : undefined;
  } catch {
    return undefined;
  }
}
