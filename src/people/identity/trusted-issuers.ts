import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { addressRulesFor } from "../../servers/logins/protocol/addresses.ts";
import { createOutgoing, type Outgoing } from "../../servers/logins/outgoing.ts";

/** What a JWT has to be beside signed by the issuer that it names. */
export interface SignedTokenRules {
  /** The kinds that are taken, in lower case and without `application/`; "" for a token that names none. */
  readonly kinds: ReadonlySet<string>;
  readonly algorithms: readonly string[];
  /** Claims without which it is not taken, beside `iss`, `sub` and `exp`. */
  readonly claims?: readonly string[];
}

/** Claims whose signature, issuer, times and kind were checked. */
type CheckedClaims = JWTPayload & { readonly iss: string; readonly sub: string; readonly exp: number };

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

/** Authorization servers and identity providers of the configuration, asked when something of theirs first comes. */
export interface TrustedIssuers {
  has(issuer: string): boolean;
  /** Its keys. Rejects with LOGIN_FAILED while it cannot be asked. */
  keysOf(issuer: string): Promise<JWTVerifyGetKey>;
  /** Where it tells what a token is. Rejects in the same way. */
  introspectionOf(issuer: string): Promise<{ readonly url: string; readonly outgoing: Outgoing }>;
}

export interface TrustedIssuersOptions {
  readonly issuers: readonly string[];
  readonly clock: Pick<Clock, "monotonic">;
  /** Keys are not fetched again before this because of a key that is not among them. */
  readonly keyPauseMs?: number;
}

interface Metadata {
  readonly keys: JWTVerifyGetKey | undefined;
  readonly introspection: string | undefined;
  readonly outgoing: Outgoing;
}

/** Anybody can send tokens that name keys which do not exist. */
const usualKeyPauseMs = 30_000;
/** A key that was taken back is good for so long. */
const keysMs = 600_000;
const metadataMs = 3_600_000;
/** An issuer that does not answer is asked again after this. */
const retryMs = 5_000;
const deadlineMs = 5_000;

export function createTrustedIssuers(options: TrustedIssuersOptions): TrustedIssuers {
  const { clock, keyPauseMs = usualKeyPauseMs } = options;
  const issuers = new Set(options.issuers);
  /** At most one for each issuer of the configuration. */
  const known = new Map<string, { readonly metadata: Promise<Metadata>; atMs: number; lifeMs: number }>();

  async function metadataOf(issuer: string): Promise<Metadata> {
    const held = known.get(issuer);
    if (held !== undefined && clock.monotonic() - held.atMs < held.lifeMs) return await held.metadata;
    const entry = { metadata: discover(issuer, keyPauseMs), atMs: clock.monotonic(), lifeMs: metadataMs };
    known.set(issuer, entry);
    try {
      return await entry.metadata;
    } catch (error) {
      entry.lifeMs = clock.monotonic() - entry.atMs + retryMs;
      throw error;
    }
  }

  return {
    has: (issuer) => issuers.has(issuer),
    async keysOf(issuer) {
      const { keys } = await metadataOf(issuer);
      if (keys === undefined) throw unusable(issuer, "names no keys");
      return keys;
    },
    async introspectionOf(issuer) {
      const { introspection, outgoing } = await metadataOf(issuer);
      if (introspection === undefined) throw unusable(issuer, "has no introspection endpoint");
      return { url: introspection, outgoing };
    },
  };
}

/** RFC 8414, section 3, and OpenID Connect Discovery, in the order in which clients of MCP look. */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const [oauth, openid] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
  return [...new Set([`${origin}${oauth}${path}`, `${origin}${openid}${path}`, `${origin}${path}${openid}`])];
}

async function discover(issuer: string, keyPauseMs: number): Promise<Metadata> {
  const place = { serverUrl: issuer, route: async () => await Promise.resolve(undefined) };
  const outgoing = createOutgoing(await addressRulesFor(issuer), place);
  let problem: unknown;
  for (const url of metadataUrls(issuer)) {
    try {
      const answer = await outgoing(url, { method: "GET", headers: {} }, AbortSignal.timeout(deadlineMs));
      if (answer.status !== 200) continue;
      const metadata = JSON.parse(answer.body.toString("utf8")) as Readonly<Record<string, unknown>>;
      // The text has to be the same (RFC 8414, section 3.3): anything else is somebody else's.
      if (metadata["issuer"] !== issuer) continue;
      const { jwks_uri: keysUrl, introspection_endpoint: introspection } = metadata;
      return {
        keys: typeof keysUrl === "string" ? createKeys(keysUrl, outgoing, keyPauseMs) : undefined,
        introspection: typeof introspection === "string" ? introspection : undefined,
        outgoing,
      };
    } catch (error) {
      problem = error;
    }
  }
  throw unusable(issuer, "does not give its metadata", problem);
}

/** The keys of the issuer, fetched when they are first needed, and once more for a key that is not among them. */
function createKeys(url: string, outgoing: Outgoing, keyPauseMs: number): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    cooldownDuration: keyPauseMs,
    cacheMaxAge: keysMs,
    timeoutDuration: deadlineMs,
    async [customFetch](address, { signal }) {
      const answer = await outgoing(address, { method: "GET", headers: {} }, signal);
      return new Response(answer.body.toString("utf8"), { status: answer.status });
    },
  });
}

function unusable(issuer: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("LOGIN_FAILED", `the issuer ${new URL(issuer).origin} ${why}`, { cause });
}

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
