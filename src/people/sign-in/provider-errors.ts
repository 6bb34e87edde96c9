import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * What went wrong with an identity provider, in the words of the gateway. The libraries' own words go to the log: they
 * may quote what an answer held.
 */
export function toProviderError(error: unknown, issuer: string): GatewayError {
  const chain = causesOf(error);
  const own = chain.find((one) => one instanceof GatewayError);
  if (own !== undefined) return own;
  const options = { cause: error };
  const kind = chain.map(codeOf).find((code) => Object.hasOwn(refusals, code));
  const said = chain.map((one) => (one as { readonly error?: unknown }).error).find((one) => typeof one === "string");
  if (kind !== undefined) {
    const word = /^[a-z_]{1,40}$/.test(said ?? "") ? ` (${said})` : "";
    return new GatewayError("PROVIDER_REFUSED", `${refusals[kind]}${word}`, options);
  }
  if (chain.some(isOutage))
    return new GatewayError("PROVIDER_UNREACHABLE", "the identity provider answers with an error of its own", options);
  const reason = chain.map(toReason).find((one) => one !== undefined) ?? "it is not what was asked for";
  const host = URL.canParse(issuer) ? new URL(issuer).host : issuer;
  return new GatewayError("PROVIDER_ANSWER_INVALID", `what ${host} answered cannot be trusted: ${reason}`, options);
}

const refusals: Readonly<Record<string, string>> = {
  OAUTH_AUTHORIZATION_RESPONSE_ERROR: "the identity provider did not let you in",
  OAUTH_RESPONSE_BODY_ERROR: "the identity provider did not accept this login",
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: "the identity provider did not accept this gateway",
};

const reasons: Readonly<Record<string, string>> = {
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: "it names another issuer or person",
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: "it is for somebody else, or of another issuer or login",
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: "its time does not fit; one of the two clocks is wrong",
  OAUTH_INVALID_RESPONSE: "it lacks something, or comes from another issuer",
  ERR_JWT_EXPIRED: "its time does not fit; one of the two clocks is wrong",
  ERR_JWT_CLAIM_VALIDATION_FAILED: "a claim is missing or wrong",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is wrong",
  ERR_JWKS_NO_MATCHING_KEY: "it is signed with a key that the provider does not publish",
  ERR_JOSE_ALG_NOT_ALLOWED: "it is not signed as it has to be",
};

function codeOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

function toReason(error: Error): string | undefined {
  const code = codeOf(error);
  const { claim } = error as { readonly claim?: unknown };
  if (code === "ERR_JWT_CLAIM_VALIDATION_FAILED" && (claim === "iat" || claim === "nbf"))
    return reasons["ERR_JWT_EXPIRED"];
  return Object.hasOwn(reasons, code) ? reasons[code] : undefined;
}

function isOutage(error: Error): boolean {
  const code = codeOf(error);
  const { cause } = error;
  if (code === "OAUTH_TIMEOUT" || code === "ERR_JWKS_TIMEOUT") return true;
  return cause instanceof Response && cause.status >= 500;
}

/** What the libraries say, for the log: without the values that their errors carry along. */
export function causesText(error: unknown): string {
  return causesOf(error)
    .map((one) => [codeOf(one), one.message].filter((part) => part !== "").join(" "))
    .join("; ");
}

const mostCauses = 8;

function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let one = error; one instanceof Error && causes.length < mostCauses; one = one.cause) causes.push(one);
  return causes;
}
