import type { Clock } from "../../kernel/runtime/clock.ts";
import { checkSignedToken, type CheckedClaims, createTrustedIssuers } from "./trusted-issuers.ts";

/**
 * The claims of an identity assertion (ID-JAG) of one of the issuers; undefined for one that is not good. Rejects with
 * LOGIN_FAILED while its issuer cannot be asked. The caller, who gives something out for it, checks whom it is for.
 */
export type CheckAssertion = (assertion: string) => Promise<CheckedClaims | undefined>;

const rules = {
  kinds: new Set(["oauth-id-jag+jwt"]),
  algorithms: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"],
  claims: ["aud", "client_id", "jti", "iat"],
};

export function createAssertionCheck(issuers: readonly string[], clock: Pick<Clock, "monotonic">): CheckAssertion {
  const trusted = createTrustedIssuers({ issuers, clock });
  return async (assertion) => await checkSignedToken(assertion, trusted, rules);
}
