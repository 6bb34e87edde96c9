import { timingSafeEqual } from "node:crypto";
import { randomId } from "../../../kernel/ids.ts";
import { sha256 } from "../access-changes.ts";
import { assertionGrantType, assertionProfile } from "./assertion-grant.ts";
import type { FetchDocument } from "./client-documents.ts";
import { isRedirect } from "./client-metadata.ts";
import type { Library, LibraryAdapter, LibraryClient, LibraryContext, LibraryProvider } from "./library.ts";
import { hashedMark } from "./oauth-adapter.ts";
import type { Sealing } from "./sealed-rows.ts";
import { createSigningKey } from "./signing-key.ts";

/** What somebody types who has no browser where the app runs: how it is shown. */
export interface DevicePages {
  /** `problem` is why the page is shown again, `code` what stood in the link that led here. */
  askCode(context: LibraryContext, xsrf: string, why: { readonly problem?: string; readonly code?: string }): void;
  confirm(
    context: LibraryContext,
    xsrf: string,
    about: { readonly client: LibraryClient; readonly code: string },
  ): void;
  done(context: LibraryContext): void;
  failed(context: LibraryContext, error: { readonly error: string; readonly error_description?: string }): void;
}

export interface ProviderOptions {
  /** The gateway's address, which is the issuer. */
  readonly issuer: string;
  readonly adapter: (kind: string) => LibraryAdapter;
  readonly sealing: Sealing;
  /** Undefined where apps have to register. */
  readonly fetchDocument: FetchDocument | undefined;
  readonly pages: DevicePages;
  /** What can be asked for. */
  readonly scopes: readonly string[];
  /** What apps are told that they can ask for: they ask for all of it. More is asked for when it is needed. */
  readonly usualScopes: readonly string[];
  /** Whether a URL is one of the gateway's own resources. */
  readonly isResource: (url: string) => boolean;
  /** The members beside the standard's in the introspection of a membership's token; undefined for an unknown one. */
  readonly describe: (membershipId: string) => Readonly<Record<string, unknown>> | undefined;
  readonly accessTokenSeconds: number;
  /** Whether identity assertions are taken. */
  readonly hasAssertions: boolean;
}

/** Paths of the authorization server below the gateway's address. */
export const oauthPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
  introspection: "/oauth/introspect",
  jwks: "/oauth/jwks",
  device_authorization: "/oauth/device/start",
  code_verification: "/oauth/device",
} as const;
export const interactionPath = "/oauth/interaction/";

const minute = 60;
const day = 86_400;

/** The authorization server at one address. */
export function createProvider(library: Library, options: ProviderOptions): LibraryProvider {
  const { issuer, sealing } = options;
  const provider = new library.Provider(issuer, {
    ...toConfiguration(options, () => new library.errors.InvalidTarget()),
    extraClientMetadata: {
      properties: ["redirect_uris"],
      validator(_context: unknown, _name: string, uris: unknown) {
        if (Array.isArray(uris) && !uris.every((uri) => typeof uri === "string" && isRedirect(uri)))
          throw new library.errors.InvalidClientMetadata(
            "redirect_uris must be https, http on this machine, or an app's own scheme, without users and fragments",
          );
      },
    },
    interactions: {
      policy: toPolicy(library),
      url: (_context: unknown, { uid }: { uid: string }) => atPath(issuer, uid),
    },
    // Nothing is signed for clients, whose tokens are looked up; the library wants a key.
    jwks: { keys: [createSigningKey()] },
    cookies: toCookies(sealing.derive("cookies"), issuer.startsWith("https:")),
  });
  provider.proxy = true;
  provider.use(async (context, next) => {
    await next();
    if (context.path.startsWith("/.well-known/")) context.body = toMetadata(context.body as object, options);
    if (context.path === oauthPaths.code_verification && context.req.method === "GET") showCode(context, options.pages);
  });
  // Of a secret, the hash is kept.
  Object.assign(provider.Client.prototype, {
    compareClientSecret(this: { readonly clientSecret?: string }, given: string) {
      const kept = Buffer.from(this.clientSecret ?? "");
      const hash = Buffer.from(hashedMark + sha256(given));
      return kept.length === hash.length && timingSafeEqual(kept, hash);
    },
  });
  return provider;
}

/** Apps ask for everything that the metadata names: no app is told who somebody is, and so there are no claims. */
function toMetadata(metadata: object, { usualScopes, hasAssertions }: ProviderOptions): object {
  const kept = Object.entries(metadata).filter(([name]) => !name.startsWith("claim"));
  const known = Object.fromEntries(kept) as { readonly grant_types_supported?: readonly string[] };
  const grantTypes = known.grant_types_supported?.filter((type) => hasAssertions || type !== assertionGrantType);
  return {
    ...known,
    scopes_supported: [...usualScopes, "offline_access"],
    grant_types_supported: grantTypes,
    ...(hasAssertions ? { authorization_grant_profiles_supported: [assertionProfile] } : {}),
  };
}

function atPath(issuer: string, uid: string): string {
  return `${issuer}${interactionPath}${uid}`;
}

/**
 * For a link with the code in it, the library has a page that sends itself off by a script. Ours shows the code in its
 * field, and the person who reads it sends it.
 */
function showCode(context: LibraryContext, pages: DevicePages): void {
  const code = context.oidc.params?.["user_code"];
  if (typeof code === "string" && context.status === 200)
    pages.askCode(context, xsrfOf(String(context.body)), { code: code.slice(0, longestCode) });
}

/** Ours have nine signs. */
const longestCode = 32;

function xsrfOf(form: string): string {
  return /name="xsrf" value="([^"]*)"/.exec(form)?.[1] ?? "";
}

function toCookies(key: string, isSecure: boolean) {
  const common = { signed: true, httpOnly: true, sameSite: "lax", secure: isSecure, overwrite: true };
  const names = { session: "ty_oauth", interaction: "ty_oauth_step", resume: "ty_oauth_resume" };
  return { keys: [key], names, short: common, long: common };
}

/** Every authorization is shown to the person, who logs in and consents on one page of ours. */
function toPolicy({ interactionPolicy: { Prompt, Check } }: Library) {
  const ask = (name: "login" | "consent") =>
    new Prompt(
      { name, requestable: true },
      new Check(`${name}_shown`, "the person has to be asked", `${name}_required`, (context) => {
        return context.oidc.result?.[name] === undefined;
      }),
    );
  return [ask("login"), ask("consent")];
}

function toConfiguration(options: ProviderOptions, refuseResource: () => Error): object {
  const { issuer, adapter, scopes, isResource, describe, accessTokenSeconds, fetchDocument } = options;
  const sub = (token: { readonly accountId?: string }) => token.accountId ?? "";
  return {
    adapter,
    ...(fetchDocument === undefined ? {} : { fetch: fetchDocument }),
    routes: oauthPaths,
    scopes: [...scopes, "offline_access"],
    claims: {},
    responseTypes: ["code"],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    // The library's own default for a client that says nothing is a secret.
    clientDefaults: { token_endpoint_auth_method: "none", id_token_signed_response_alg: "ES256" },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: true, issueRegistrationAccessToken: false, idFactory: () => randomId("") },
      clientIdMetadataDocument: {
        ...{ enabled: fetchDocument !== undefined, ack: "draft-02" },
        cacheDuration: { min: 300, max: day },
      },
      revocation: { enabled: true },
      introspection: { enabled: true },
      deviceFlow: toDeviceFlow(options.pages),
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: unknown, _client: unknown, oneOf?: readonly string[]) =>
          oneOf?.[0] ?? `${issuer}/mcp`,
        getResourceServerInfo(_context: unknown, url: string) {
          if (!isResource(url)) throw refuseResource();
          return {
            scope: scopes.join(" "),
            audience: url,
            accessTokenFormat: "opaque",
            accessTokenTTL: accessTokenSeconds,
          };
        },
        useGrantedResource: () => true,
      },
    },
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: minute,
      DeviceCode: 10 * minute,
      Interaction: 10 * minute,
      Session: 15 * minute,
      RefreshToken: 30 * day,
      Grant: 180 * day,
    },
    issueRefreshToken: (_context: unknown, client: LibraryClient) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    extraTokenClaims: (_context: unknown, token: { readonly accountId?: string }) => describe(sub(token)),
    findAccount: (_context: unknown, id: string) =>
      describe(id) === undefined ? undefined : { accountId: id, claims: () => ({ sub: id }) },
    renderError: (context: LibraryContext, out: { readonly error: string }) => options.pages.failed(context, out),
  };
}

function toDeviceFlow(pages: DevicePages) {
  return {
    enabled: true,
    userCodeInputSource: (
      context: LibraryContext,
      form: string,
      _out: unknown,
      error: { readonly name: string } | undefined,
    ) => pages.askCode(context, xsrfOf(form), error === undefined ? {} : { problem: toProblem(error.name) }),
    userCodeConfirmSource: (
      context: LibraryContext,
      form: string,
      ...[client, , code]: readonly [LibraryClient, unknown, string]
    ) => pages.confirm(context, xsrfOf(form), { client, code }),
    successSource: (context: LibraryContext) => pages.done(context),
  };
}

function toProblem(name: string): string {
  if (name === "AbortedError") return "It was declined.";
  return name === "NoCodeError" || name === "NotFoundError"
    ? "This code is not right. Look again at what the app shows."
    : "This code is too old, or was used before. Start again in the app.";
}
