import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/** How the client proves itself at the token endpoint (RFC 6749, section 2.3). */
export type ClientAuth = "none" | "client_secret_basic" | "client_secret_post";

/** One login at one server: what the gateway needs to use and to renew it, and nothing of the browser's part. */
export interface Credential {
  /** New with every login, the same through every refresh: a running gateway sees by it that somebody logged in. */
  readonly loginId: string;
  /** The server's URL as it was configured. The token is sent to no other. */
  readonly serverUrl: string;
  /** RFC 8707; undefined for servers that publish no metadata of their own. */
  readonly resource: string | undefined;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | undefined;
  readonly client: { readonly id: string; readonly secret: string | undefined; readonly auth: ClientAuth };
  readonly scope: string | undefined;
  readonly tokens: Tokens;
}

export interface Tokens {
  readonly access: string;
  /** Undefined when none was given, or when the authorization server no longer takes it. */
  readonly refresh: string | undefined;
  /** Wall clock, ms. */
  readonly obtainedAtMs: number;
  /** Wall clock, ms; undefined when the authorization server did not say. */
  readonly expiresAtMs: number | undefined;
}

/** Where logins are kept. Satisfied by `store/`. */
export interface CredentialStore {
  read(instance: string): Promise<KeptCredential>;
  write(instance: string, text: string): Promise<void>;
  /** Whether there was one. */
  remove(instance: string): Promise<boolean>;
  /** Changes with every change of the credential; undefined when there is none. Cheap. */
  revision(instance: string): Promise<string | undefined>;
  /** Keeps other processes from renewing the same login: a refresh token may be used once. */
  exclusively<T>(instance: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export type KeptCredential =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly reason: string };

const format = 1;

export function serializeCredential(credential: Credential): string {
  return JSON.stringify({ format, ...credential });
}

/** Undefined when the text is of another version, or not whole. */
export function parseCredential(text: string): Credential | undefined {
  const value = parseObject(text);
  const client = value?.["client"];
  const tokens = value?.["tokens"];
  if (value?.["format"] !== format || !isJsonObject(client) || !isJsonObject(tokens)) return undefined;
  const { loginId, serverUrl, issuer, tokenEndpoint } = value;
  const { id, auth } = client;
  const { access, obtainedAtMs } = tokens;
  if (
    ![loginId, serverUrl, issuer, tokenEndpoint, id, access].every((field) => typeof field === "string") ||
    typeof obtainedAtMs !== "number" ||
    !isClientAuth(auth)
  )
    return undefined;
  return {
    loginId: loginId as string,
    serverUrl: serverUrl as string,
    resource: optionalText(value, "resource"),
    issuer: issuer as string,
    tokenEndpoint: tokenEndpoint as string,
    revocationEndpoint: optionalText(value, "revocationEndpoint"),
    client: { id: id as string, secret: optionalText(client, "secret"), auth },
    scope: optionalText(value, "scope"),
    tokens: {
      access: access as string,
      refresh: optionalText(tokens, "refresh"),
      obtainedAtMs,
      expiresAtMs: typeof tokens["expiresAtMs"] === "number" ? tokens["expiresAtMs"] : undefined,
    },
  };
}

export function isClientAuth(value: unknown): value is ClientAuth {
  return value === "none" || value === "client_secret_basic" || value === "client_secret_post";
}

function optionalText(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
