import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** What decides how the gateway is called by those who reach it. */
export interface AddressSettings {
  /** Where it listens. */
  readonly host: string;
  readonly port: number;
  /**
   * The address that clients use, as `config/web-names.ts` makes it: without a slash at its end. Stronger than all
   * that a request says.
   */
  readonly publicUrl?: string | undefined;
  /** Addresses and ranges (CIDR) of proxies whose `X-Forwarded-*` count. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** A request, as far as it tells under which address the gateway was reached. */
export type Reached = Pick<IncomingMessage, "headers"> & {
  readonly socket: Pick<IncomingMessage["socket"], "remoteAddress">;
};

/**
 * The address of the gateway as whoever sent the request knows it, without a slash at its end; without a request the
 * address that it is known by. Every absolute URL that the gateway gives out is made from it, and nothing else writes
 * a scheme in front of a host.
 */
export type PublicUrl = (request: Reached | undefined) => string;

/** Settings are asked for each time: a changed file changes them. */
export function createPublicUrl(settings: () => AddressSettings): PublicUrl {
  let known: AddressSettings | undefined;
  let proxies: BlockList | undefined;

  return (request) => {
    const now = settings();
    if (now.publicUrl !== undefined) return now.publicUrl;
    if (now !== known) {
      known = now;
      proxies = toBlockList(now.trustedProxies ?? []);
    }
    if (request === undefined) return toUrl(now.host, now.port);
    const { headers, socket } = request;
    const said = isListed(proxies, socket.remoteAddress) ? headers : noHeaders;
    const scheme = lastOf(said["x-forwarded-proto"])?.toLowerCase() === "https" ? "https" : "http";
    const host = asHost(lastOf(said["x-forwarded-host"])) ?? asHost(headers.host) ?? authorityOf(now.host, now.port);
    return `${scheme}://${host}${asPrefix(lastOf(said["x-forwarded-prefix"])) ?? ""}`;
  };
}

/** Where something listens, for programs on the same machine. */
export function toUrl(host: string, port: number): string {
  return `http://${authorityOf(host, port)}`;
}

function authorityOf(host: string, port: number): string {
  return `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}

/** The path in front of the gateway's own paths: empty, or beginning with a slash and without one at its end. */
export function prefixOf(publicUrl: string): string {
  const path = new URL(publicUrl).pathname;
  return path === "/" ? "" : path;
}

const noHeaders: IncomingMessage["headers"] = Object.freeze({});

/** In a list the last one is what the proxy itself has added; those before it are what it was told by others. */
function lastOf(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header.join(",") : header)?.split(",").at(-1)?.trim();
}

/** A name or address with an optional port. What is none may not stand in a URL, nor in the quotes of a challenge. */
function asHost(text: string | undefined): string | undefined {
  return text !== undefined && /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.test(text) ? text : undefined;
}

function asPrefix(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+;=:@%-]+)+\/?$/.test(text)
    ? text.replace(/\/$/, "")
    : undefined;
}

function toBlockList(ranges: readonly string[]): BlockList | undefined {
  if (ranges.length === 0) return undefined;
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/**
 * An IPv4 peer of a socket that takes both has an address of IPv6, which `BlockList` sees through; a link-local one
 * has the name of its link.
 */
function isListed(list: BlockList | undefined, peer: string | undefined): boolean {
  if (list === undefined || peer === undefined) return false;
  const address = peer.split("%", 1)[0] ?? "";
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
