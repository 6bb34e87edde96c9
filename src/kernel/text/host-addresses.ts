import { BlockList, isIP } from "node:net";

/** The address of something that listens, for programs on the same machine. */
export function toUrl(host: string, port: number): string {
  return `http://${authorityOf(host, port)}`;
}

/** The origin on this machine of a gateway that may listen on all addresses. */
export function toLocalOrigin(url: string): string {
  const { protocol, host } = new URL(url);
  const here = host.replace(/^(?:0\.0\.0\.0|localhost|\[::\]|\[::1\])(?=:|$)/, "127.0.0.1");
  return `${protocol}//${here}`;
}

/** Host and port as a URL has them. */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}

/** Addresses and ranges (CIDR) as a list that tells which addresses are in it. */
export function toBlockList(ranges: readonly string[]): BlockList {
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
 * Whether a peer is in the list. On a socket for both families an IPv4 peer has an IPv6 address, which `BlockList`
 * understands. The address of a link-local peer ends in the name of its link, which is removed.
 */
export function isListed(list: BlockList, peer: string | undefined): boolean {
  if (peer === undefined) return false;
  const address = peer.split("%", 1)[0] ?? "";
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** This machine's own. */
export const loopback = toBlockList(["127.0.0.0/8", "::1"]);
