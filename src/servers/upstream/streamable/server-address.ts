import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { GatewayIdentity } from "../messages/encode.ts";
import { isHeaderName, isHeaderValue, basicAuthorization } from "../../../kernel/text/header-value.ts";
import { userAgent } from "../../../wire/http/tuning.ts";

/** The address of a server, and the headers that every request to it has. */
export interface ServerAddress {
  readonly server: string;
  /** The only part of the URL that messages may contain, because path and query may hold keys. */
  readonly origin: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** A flat list: name, value, name, value. Names are in lower case. */
  readonly headers: readonly string[];
  /** Whether some of them are configured, and may be a credential. */
  readonly hasConfiguredHeaders: boolean;
}

/** Headers that the transport sets itself; a configured one of the same name would break it, and is ignored. */
const ownHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "keep-alive",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Parses a configured URL. A user and password in it become a Basic `Authorization` header, unless one is configured,
 * and appear nowhere else. Throws CONFIG_INVALID for a URL that is not http(s) and for headers that cannot be sent;
 * the message contains no values.
 */
export function parseServerAddress(
  server: string,
  transport: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  identity: GatewayIdentity,
): ServerAddress {
  const url = URL.canParse(transport.url) ? new URL(transport.url) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new GatewayError("CONFIG_INVALID", `the url of ${server} is not an http or https URL`);
  }
  const headers = new Map([["user-agent", userAgent(identity)]]);
  const login = basicAuthorization(url);
  if (login !== undefined) headers.set("authorization", login);
  for (const [key, value] of Object.entries(transport.headers)) {
    const name = key.toLowerCase();
    if (ownHeaders.has(name)) continue;
    if (!isHeaderName(name))
      throw new GatewayError(
        "CONFIG_INVALID",
        `a header configured for ${server} has a name that is not a valid header name`,
      );
    if (!isHeaderValue(value))
      throw new GatewayError(
        "CONFIG_INVALID",
        `the header ${name} configured for ${server} contains a character that is not allowed in a header`,
      );
    headers.set(name, value);
  }
  return {
    server,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    headers: [...headers].flat(),
    hasConfiguredHeaders: headers.size > 1,
  };
}

/**
 * The same server at the path that an SSE server has named. Throws UPSTREAM_PROTOCOL when that is on another origin,
 * which must not get the credentials.
 */
export function withPath(address: ServerAddress, reference: string): ServerAddress {
  const base = `${address.origin}${address.path}`;
  const url = URL.canParse(reference, base) ? new URL(reference, base) : undefined;
  if (url === undefined)
    throw new GatewayError("UPSTREAM_PROTOCOL", `${address.server} named an endpoint that is not a URL`);
  if (url.origin !== address.origin) {
    throw new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${address.server} named an endpoint on ${originOf(url)}, not on its own origin ${address.origin}`,
    );
  }
  return { ...address, path: `${url.pathname}${url.search}` };
}

/** The statuses of redirects after which the same request is sent again (RFC 9110, 15.4). */
const repeatingStatuses: ReadonlySet<number> = new Set([307, 308]);
/** Those that clients of the Web turn into a GET: what was one stays the same request. */
const readingStatuses: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * Where to send a request again that was redirected to the same origin and path but for one slash at the end, which
 * many web frameworks do and every official client follows. Undefined for any other redirect. The query stays as it
 * was sent, because it may hold keys that the server leaves out of `Location`.
 */
export function slashRedirect(
  { origin }: ServerAddress,
  { method, path }: { readonly method: string; readonly path: string },
  { status, location }: { readonly status: number; readonly location: string | undefined },
): string | undefined {
  if (!(method === "GET" ? readingStatuses : repeatingStatuses).has(status)) return undefined;
  const sent = new URL(`${origin}${path}`);
  if (location === undefined || !URL.canParse(location, sent.href)) return undefined;
  const target = new URL(location, sent);
  if (target.origin !== origin || target.username !== "" || target.password !== "") return undefined;
  if (target.search !== "" && target.search !== sent.search) return undefined;
  const differs = `${target.pathname}/` === sent.pathname || target.pathname === `${sent.pathname}/`;
  return differs ? `${target.pathname}${sent.search}` : undefined;
}

/**
 * How messages name the target of a redirect: by its origin. Of the path they tell only whether it differs by a slash
 * at the end, which is a common case.
 */
export function redirectTarget(address: ServerAddress, location: string | undefined): string {
  const base = `${address.origin}${address.path}`;
  if (location === undefined || !URL.canParse(location, base)) return "nowhere";
  const target = new URL(location, base);
  if (target.origin !== address.origin) return originOf(target);
  return target.pathname === `${new URL(base).pathname}/`
    ? "its own URL with a slash at the end"
    : `another path of ${target.origin}`;
}

function originOf(url: URL): string {
  return url.origin === "null" ? url.protocol : url.origin;
}
