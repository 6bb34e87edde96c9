import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/**
 * The host names by which the gateway may be reached, and the sites that may reach it (protection against DNS
 * rebinding; 2026-07-28, streamable-http, security).
 */
export interface OriginRules {
  /** Host names without port, in lower case, with brackets around IPv6. `*` allows every host. */
  readonly hosts: ReadonlySet<string>;
  /** Complete origins, as browsers send them. */
  readonly origins: ReadonlySet<string>;
  /** Host headers that have been found to be allowed: nearly every request has one of a few. */
  readonly known: Set<string>;
}

/** With what holds for server cards: any site may read those of a gateway with a public URL (SEP-2127, CORS). */
export interface GatewayOriginRules extends OriginRules {
  readonly ofCards: OriginRules;
}

const mostKnown = 64;

const loopbackHosts = ["localhost", "127.0.0.1", "[::1]"];
/** A host name or address with an optional port. Nothing that could be read as a path, a user or a fragment. */
const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i;

const absoluteForm = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i;

/** Allows the names of this machine, the address that is listened on, the public URL, and the configured ones. */
export function createOriginRules(options: {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** The address that clients are given. Its host and its pages belong to the gateway. */
  readonly publicUrl?: string | undefined;
}): GatewayOriginRules {
  const own = options.host.includes(":") && !options.host.startsWith("[") ? `[${options.host}]` : options.host;
  const known = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const wildcard = own === "0.0.0.0" || own === "[::]";
  const rules: OriginRules = {
    hosts: new Set(
      [...loopbackHosts, ...(wildcard ? [] : [own]), ...(known ? [known.hostname] : []), ...options.allowedHosts].map(
        (host) => host.toLowerCase(),
      ),
    ),
    origins: new Set(
      [...options.allowedOrigins, ...(known ? [known.origin] : [])].map((origin) =>
        origin.toLowerCase().replace(/\/$/, ""),
      ),
    ),
    known: new Set(),
  };
  return { ...rules, ofCards: known === undefined ? rules : { ...rules, origins: new Set(["*"]) } };
}

/**
 * Throws HOST_INVALID, HOST_FORBIDDEN or ORIGIN_FORBIDDEN (faults 29-33, 39). Called for every request to any route.
 */
export function checkOrigin(request: IncomingMessage, rules: OriginRules): void {
  const host = request.headers.host;
  if (host === undefined || countHosts(request.rawHeaders) !== 1)
    throw new GatewayError("HOST_INVALID", "the request has no Host header, or more than one");
  const { origin } = request.headers;
  const isPlain = origin === undefined && request.url?.startsWith("/") === true;
  if (isPlain && rules.known.has(host)) return;
  // A target in absolute form names the host itself, and the Host header must be ignored (RFC 9112, 3.2.2).
  const authority = absoluteForm.exec(request.url ?? "/")?.[1] ?? host;
  const name = hostNameOf(authority);
  if (name === undefined)
    throw new GatewayError("HOST_INVALID", "the Host header is not a host name with an optional port");
  if (!isKnownHost(name, rules))
    throw new GatewayError("HOST_FORBIDDEN", "the Host header names a host that is not allowed");
  if (isPlain && rules.known.size < mostKnown) rules.known.add(host);
  if (origin === undefined) return;
  if (isOwnOrigin(origin, authority) || rules.origins.has(origin.toLowerCase()) || rules.origins.has("*")) return;
  throw new GatewayError("ORIGIN_FORBIDDEN", "the Origin header names a site that is not allowed");
}

/**
 * Whether a request that no page of another site says to have sent names no host, or one that the gateway is not known
 * by: as probes do. One that names several, or no possible one, is a bad request all the same.
 */
export function isWithoutKnownHost(request: IncomingMessage, rules: OriginRules): boolean {
  const { host, origin } = request.headers;
  if (origin !== undefined || countHosts(request.rawHeaders) > 1) return false;
  const name = hostNameOf(absoluteForm.exec(request.url ?? "/")?.[1] ?? host ?? "");
  return host === undefined || host === "" || (name !== undefined && !isKnownHost(name, rules));
}

/** The host of an authority, in lower case; undefined where it is none. */
function hostNameOf(authority: string): string | undefined {
  return hostForm.exec(authority)?.[1]?.toLowerCase();
}

function isKnownHost(name: string, { hosts }: OriginRules): boolean {
  return hosts.has(name) || hosts.has("*");
}

/** An origin with the host and port of the request itself belongs to one of our own pages. */
function isOwnOrigin(origin: string, host: string): boolean {
  const lower = origin.toLowerCase();
  return /^https?:\/\//.test(lower) && lower.slice(lower.indexOf("//") + 2) === host.toLowerCase();
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/** For origins that have passed the check. Without an Origin there is nothing to allow. */
export function corsHeaders(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined) return noHeaders;
  return {
    "Access-Control-Allow-Origin": origin,
    Vary: "Origin",
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": [...allowedHeaders, ...parameterHeaders(request)].join(", "),
    "Access-Control-Expose-Headers": "Mcp-Session-Id, ETag, Deprecation, Retry-After, WWW-Authenticate",
  };
}

const allowedHeaders = [
  ...["Authorization", "Content-Type", "Accept", "Last-Event-ID", "Mcp-Session-Id", "Mcp-Protocol-Version"],
  ...["Mcp-Method", "Mcp-Name", "If-None-Match", "If-Match", "X-App-Context"],
];

/**
 * Arguments that a tool wants as headers are named by the tool (2026-07-28), and a CORS answer has to list names,
 * because it allows no pattern.
 */
function parameterHeaders(request: IncomingMessage): readonly string[] {
  const asked = request.headers["access-control-request-headers"] ?? "";
  return asked
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name));
}

const noHeaders: Record<string, string> = Object.freeze({});
