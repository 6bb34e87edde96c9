import { readFile } from "node:fs/promises";
import type * as OpenIdClient from "openid-client";
import type { Configuration } from "openid-client";
import type * as Jose from "jose";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import type { ProviderSettings } from "../../config/rows/provider-rows.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { toProviderError } from "./provider-errors.ts";
import { isLoopbackHost } from "../../servers/logins/protocol/addresses.ts";
import type { Outgoing } from "../../servers/logins/outgoing.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** One identity provider. Everything rejects with PROVIDER_UNREACHABLE, PROVIDER_REFUSED or PROVIDER_ANSWER_INVALID. */
export interface ProviderConnection {
  /** Where a browser is sent to log in. */
  authorizationUrl(about: LoginChecks & { readonly redirectUri: string; readonly asks: Asking }): Promise<URL>;
  /** The claims of the provider about the person who came back to `url`, checked. */
  redeem(url: URL, checks: LoginChecks): Promise<ProviderClaims>;
  /** The claims of a token that the provider signed for this gateway within the last minutes. */
  verify(token: string): Promise<JWTPayload>;
  /** Where a browser is sent to log out there as well; undefined where the provider has no such place. */
  endSessionUrl(redirectUri: string): Promise<URL | undefined>;
}

/**
 * Whom a provider asks who they are: everybody, also to log in with another account (`login`); everybody who is logged
 * in there, once more (`again`); or only who is not logged in there.
 */
export type Asking = "login" | "again" | "strangers";

/** What ties an answer to the request that it is for. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface ProviderClaims {
  readonly issuer: string;
  readonly subject: string;
  /** The provider's name for its session; empty where it has none. */
  readonly sid: string;
  readonly all: Readonly<Record<string, unknown>>;
  /** Those of them that are in the ID token. */
  readonly signed: Readonly<Record<string, unknown>>;
}

export interface ProviderConnectionDeps {
  readonly library: ProviderLibrary;
  readonly settings: ProviderSettings;
  readonly fetch: ProviderFetch;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Metadata hardly ever change; keys do, and are read again as soon as one is missing. */
const metadataMs = 3_600_000;
const keysMs = 600_000;
/** By so much may two clocks differ. */
const skewS = 60;
/** As long as a session here. With any limit, providers say when somebody logged in there. */
const longestLoginS = 7 * 86_400;
/** A token is used when it was made. */
const longestAgeS = 600;
/** Signatures that only the provider can make: none that is made with our secret. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

interface Opened {
  readonly configuration: Configuration;
  readonly issuer: string;
  readonly keys: JWTVerifyGetKey;
  readonly untilMs: number;
}

/** Reads a provider's metadata. Any number of logins share one reading; one that failed is not remembered. */
function createDiscovery({ library, settings, fetch, clock }: ProviderConnectionDeps): () => Promise<Opened> {
  const { client, jose } = library;
  const { issuer: address, clientId } = settings;
  const isPlain = address.startsWith("http:");
  const tolerance = { [client.clockTolerance]: skewS };
  let opening: Promise<Opened> | undefined;

  async function discover(): Promise<Opened> {
    const secret = await readSecret(settings.clientSecret);
    const how = { [client.customFetch]: fetch, ...(isPlain ? { execute: [client.allowInsecureRequests] } : {}) };
    const discovered = await client.discovery(new URL(address), clientId, tolerance, undefined, how);
    const metadata = discovered.serverMetadata();
    const { issuer, jwks_uri: keysAt, token_endpoint_auth_methods_supported: methods } = metadata;
    if (keysAt === undefined) throw new Error("its metadata name no keys");
    // A new object: the authentication of a discovered one cannot be changed.
    const auth = secret === undefined ? client.None() : toAuth(client, methods ?? ["client_secret_basic"], secret);
    const configuration = new client.Configuration(metadata, clientId, tolerance, auth);
    configuration[client.customFetch] = fetch;
    if (isPlain) client.allowInsecureRequests(configuration);
    const keys = jose.createRemoteJWKSet(new URL(keysAt), {
      cacheMaxAge: keysMs,
      // A sender who can make us read them has a token of the provider, or is counted.
      cooldownDuration: 0,
      [jose.customFetch]: fetch as never,
    });
    return { configuration, issuer, keys, untilMs: clock.monotonic() + metadataMs };
  }

  return async () => {
    const before = await opening?.catch(() => undefined);
    if (before !== undefined && before.untilMs <= clock.monotonic()) opening = undefined;
    opening ??= discover().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return await opening;
  };
}

export function createProviderConnection(deps: ProviderConnectionDeps): ProviderConnection {
  const { library, settings } = deps;
  const { client, jose } = library;
  const open = createDiscovery(deps);

  async function verify(token: string, { keys, issuer }: Opened): Promise<JWTPayload> {
    const times = { clockTolerance: skewS, maxTokenAge: longestAgeS };
    return (await jose.jwtVerify(token, keys, { issuer, audience: settings.clientId, algorithms, ...times })).payload;
  }

  async function askMore(opened: Opened, accessToken: string, subject: string): Promise<object> {
    if (opened.configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return await client.fetchUserInfo(opened.configuration, accessToken, subject);
  }

  async function attempt<T>(run: (opened: Opened) => Promise<T> | T): Promise<T> {
    try {
      return await run(await open());
    } catch (error) {
      throw toProviderError(error, settings.issuer);
    }
  }

  return {
    authorizationUrl: async ({ redirectUri, state, nonce, verifier, asks }) =>
      await attempt(async ({ configuration }) =>
        client.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: [...new Set(["openid", ...settings.scopes])].join(" "),
          ...{ state, nonce, code_challenge: await client.calculatePKCECodeChallenge(verifier) },
          code_challenge_method: "S256",
          max_age: String(asks === "again" ? 0 : longestLoginS),
          ...(asks === "login" ? { prompt: "login" } : {}),
        }),
      ),
    redeem: async (url, { state, nonce, verifier }) =>
      await attempt(async (opened) => {
        const { configuration, issuer } = opened;
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
        const tokens = await client.authorizationCodeGrant(configuration, url, { ...checks, idTokenExpected: true });
        // The library trusts the connection that the token came over; its signature counts as well.
        const signed = await verify(tokens.id_token ?? "", opened);
        const subject = signed.sub ?? "";
        const isWhole = Object.values(settings.claims).every((name) => signed[name] !== undefined);
        const more = isWhole ? {} : await askMore(opened, tokens.access_token, subject);
        const sid = typeof signed["sid"] === "string" ? signed["sid"] : "";
        return { issuer, subject, sid, all: { ...more, ...signed }, signed };
      }),
    verify: async (token) => await attempt(async (opened) => await verify(token, opened)),
    endSessionUrl: async (redirectUri) =>
      await attempt(({ configuration }) =>
        configuration.serverMetadata().end_session_endpoint === undefined
          ? undefined
          : client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: redirectUri }),
      ),
  };
}

function toAuth(client: ProviderLibrary["client"], methods: readonly string[], secret: string) {
  return methods.includes("client_secret_basic") ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}

/** `file:` and a path is read when it is needed, so that a secret can be replaced. */
async function readSecret(given: string | undefined): Promise<string | undefined> {
  if (given?.startsWith("file:") !== true) return given;
  return (await readFile(given.slice("file:".length), "utf8")).trim();
}

/** What we use of the libraries for identity providers. */
interface ProviderLibrary {
  readonly client: typeof OpenIdClient;
  readonly jose: typeof Jose;
}

/** Loaded when somebody logs in at an identity provider for the first time. */
export async function loadProviderLibrary(): Promise<ProviderLibrary> {
  const [client, jose] = await Promise.all([import("openid-client"), import("jose")]);
  return { client, jose };
}

interface FetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** As the libraries call `fetch`. */
type ProviderFetch = (url: string, options: FetchOptions) => Promise<Response>;

const neverAborted = new AbortController().signal;
const withoutBody = [101, 204, 205, 304];

/**
 * Reaches an identity provider: over https, or on this machine; nothing is followed, and what comes is small and in
 * time. Rejects with PROVIDER_UNREACHABLE.
 */
export function createProviderFetch(outgoing: Outgoing): ProviderFetch {
  return async (url, { method, headers, body, signal }) => {
    const { protocol, hostname, origin } = new URL(url);
    if (protocol !== "https:" && !isLoopbackHost(hostname))
      throw new GatewayError("PROVIDER_UNREACHABLE", `${origin} is not encrypted`);
    try {
      const answer = await outgoing(
        url,
        {
          method: method === "POST" ? "POST" : "GET",
          headers: Object.fromEntries(new Headers(headers)),
          follows: false,
          ...(body === undefined || body === null ? {} : { body: toText(body) }),
        },
        signal ?? neverAborted,
      );
      const content = withoutBody.includes(answer.status) ? null : new Uint8Array(answer.body);
      return new Response(content, { status: answer.status, headers: answer.headers });
    } catch (error) {
      const why = error instanceof Error ? error.message : "it does not answer";
      throw new GatewayError("PROVIDER_UNREACHABLE", `the identity provider cannot be reached: ${why}`, {
        cause: error,
      });
    }
  };
}

/** Bodies are form-encoded. */
function toText(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("an identity provider is sent forms only");
}
