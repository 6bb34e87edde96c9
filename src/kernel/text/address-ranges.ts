import { BlockList, isIP } from "node:net";

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
