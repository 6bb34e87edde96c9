import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";
import { authorityOf, toUrl, isListed, toBlockList, loopback } from "../../kernel/text/host-addresses.ts";

/** Settings that decide under which address clients reach the gateway. */
export interface AddressSettings {
  /** The address that the gateway listens on. */
  readonly host: string;
  readonly port: number;
  /**
   * The address that clients use, as made by `config/words/web-names.ts`: without a slash at its end. Takes precedence
   * over anything in a request.
   */
  readonly publicUrl?: string | undefined;
  /** Addresses and ranges (CIDR) of proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** The part of a request that shows under which address the gateway was reached. */
export type Reached = Pick<IncomingMessage, "headers"> & {
  readonly socket: Pick<IncomingMessage["socket"], "remoteAddress">;
};

/**
 * The gateway's address as the sender of the request knows it, without a slash at its end. Without a request, its
 * general address. Every absolute URL that the gateway gives out is made from it; nothing else puts a scheme before a
 * host.
 */
export type PublicUrl = (request: Reached | undefined) => string;

/**
 * `settings` is called each time, because an edited configuration changes them. `listening` is where the gateway
 * listens, once it does: a port that the system chose is in no setting.
 */
export function createPublicUrl(settings: () => AddressSettings, listening?: () => string | undefined): PublicUrl {
  let known: AddressSettings | undefined;
  let proxies: BlockList = toBlockList([]);

  return (request) => {
    const now = settings();
    if (now.publicUrl !== undefined) return now.publicUrl;
    if (now !== known) {
      known = now;
      proxies = toBlockList(now.trustedProxies ?? []);
    }
    if (request === undefined) return (now.port === 0 ? listening?.() : undefined) ?? toUrl(now.host, now.port);
    const { headers, socket } = request;
    const said = isListed(proxies, socket.remoteAddress) ? headers : noHeaders;
    const scheme = lastOf(said["x-forwarded-proto"])?.toLowerCase() === "https" ? "https" : "http";
    const host = asHost(lastOf(said["x-forwarded-host"])) ?? asHost(headers.host) ?? authorityOf(now.host, now.port);
    return `${scheme}://${host}${asPrefix(lastOf(said["x-forwarded-prefix"])) ?? ""}`;
  };
}

/** The path before the gateway's own paths: empty, or with a slash at the beginning and none at the end. */
export function prefixOf(publicUrl: string): string {
  const path = new URL(publicUrl).pathname;
  return path === "/" ? "" : path;
}

const noHeaders: IncomingMessage["headers"] = Object.freeze({});

/** Of several values the last was added by the proxy itself. Those before it are what the proxy received. */
function lastOf(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header.join(",") : header)?.split(",").at(-1)?.trim();
}

/**
 * A host name or address with an optional port. Undefined for anything else, which must not get into a URL or into
 * the quotes of a challenge.
 */
function asHost(text: string | undefined): string | undefined {
  return text !== undefined && /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.test(text) ? text : undefined;
}

function asPrefix(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+;=:@%-]+)+\/?$/.test(text)
    ? text.replace(/\/$/, "")
    : undefined;
}

/** The path of a request's target. Only it decides who answers; absolute-form targets are taken apart (fault 23). */
export function requestPath(url: string): string {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "");
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  if (path === "") return "/";
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/**
 * The address that a request comes from: behind a trusted proxy, the one that the proxy reports. Null where a proxy on
 * this machine is in front of a public address and is not configured as trusted: then all clients would share its
 * address.
 */
export function createClientAddress(settings: () => AddressSettings): (request: IncomingMessage) => string | null {
  return ({ headers, socket }) => {
    const { trustedProxies = [], publicUrl } = settings();
    const peer = socket.remoteAddress;
    if (isListed(toBlockList(trustedProxies), peer)) {
      const said = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",").at(-1)?.trim() ?? "";
      return isIP(said) === 0 ? null : said;
    }
    if (publicUrl?.startsWith("https:") === true && isListed(loopback, peer)) return null;
    return peer ?? null;
  };
}
