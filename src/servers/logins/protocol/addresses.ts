import { lookup as resolve, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/**
 * Where documents that a server names may lie (fault 104). A server on the public Internet may not send us into private
 * networks; one that is itself on this machine or in a private network may, because its authorization server is then
 * usually there too.
 */
export type Reach = "public" | "private";

export interface AddressRules {
  readonly reach: Reach;
  /** Refuses names and numbers that are out of reach. Throws LOGIN_FAILED. */
  checkHost(hostname: string): void;
  /** For sockets: refuses the address that is really connected to, however the name resolves at that moment. */
  readonly lookup: LookupFunction;
  /**
   * For names that a proxy resolves: refuses those that this machine knows to be out of reach. A name that only the
   * proxy knows is left to the proxy. Rejects with LOGIN_FAILED.
   */
  checkName(hostname: string): Promise<void>;
}

export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** The rules for what a server may name. Its own host is trusted to be where the configuration says. */
export async function addressRulesFor(serverUrl: string): Promise<AddressRules> {
  const { hostname } = new URL(serverUrl);
  const addresses = await addressesOf(hostname);
  return createAddressRules(addresses.some((address) => !isPublicAddress(address)) ? "private" : "public");
}

export function createAddressRules(reach: Reach): AddressRules {
  const isAllowed = (address: string): boolean =>
    isPublicAddress(address) || (reach === "private" && !isNeverReached(address));
  const refusal = (hostname: string): GatewayError =>
    new GatewayError(
      "LOGIN_FAILED",
      `${hostname} is not in the public Internet, and a server that is may not send a login there`,
    );
  return {
    reach,
    checkHost(hostname) {
      const address = hostname.replace(/^\[|\]$/g, "");
      if (isIP(address) !== 0 && !isAllowed(address)) throw refusal(hostname);
    },
    async checkName(hostname) {
      if ((await addressesOf(hostname)).some((address) => !isAllowed(address))) throw refusal(hostname);
    },
    lookup(hostname, options, callback) {
      resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        if (error !== null) callback(error, "", 0);
        else if (addresses.some(({ address }) => !isAllowed(address))) callback(refusal(hostname), "", 0);
        else if (options.all === true) callback(null, addresses);
        else callback(null, addresses[0]?.address ?? "", addresses[0]?.family ?? 4);
      });
    },
  };
}

async function addressesOf(hostname: string): Promise<readonly string[]> {
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0) return [literal];
  return await new Promise((done) => {
    resolve(hostname, { all: true }, (error, addresses) =>
      done(error === null ? addresses.map(({ address }) => address) : []),
    );
  });
}

/**
 * RFC 6890: this network, private, shared, link-local, benchmarking, multicast and reserved; and the ways in which
 * IPv6 leads to an IPv4 address, which may be any of these.
 */
const privateRanges: readonly (readonly [string, number, "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.0.0.0", 24, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["198.18.0.0", 15, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  // IPv4-compatible and IPv4-translated.
  ["::", 96, "ipv6"],
  ["::ffff:0:0:0", 96, "ipv6"],
  // NAT64, that of a network's own as well (RFC 8215).
  ["64:ff9b::", 96, "ipv6"],
  ["64:ff9b:1::", 48, "ipv6"],
  // Discarded (RFC 6666).
  ["100::", 64, "ipv6"],
  // Teredo and what else is reserved beside it, and 6to4.
  ["2001::", 23, "ipv6"],
  ["2002::", 16, "ipv6"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
  // Site-local, which was deprecated and may still be in use (RFC 3879).
  ["fec0::", 10, "ipv6"],
  ["ff00::", 8, "ipv6"],
];

/** Metadata services of clouds live there; no authorization server does. */
const neverReached: typeof privateRanges = [
  ["0.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  ["fe80::", 10, "ipv6"],
  ["ff00::", 8, "ipv6"],
];

/** Whether an IP address is in the public Internet. False for a text that is no address. */
export function isPublicAddress(address: string): boolean {
  return !isIn(address, privateRanges);
}

function isNeverReached(address: string): boolean {
  return isIn(address, neverReached);
}

/** An IPv4 address written as IPv6 (`::ffff:a9fe:a9fe`) is the IPv4 address: BlockList knows that. */
function isIn(address: string, ranges: typeof privateRanges): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  const list = new BlockList();
  for (const [network, prefix, type] of ranges) list.addSubnet(network, prefix, type);
  return list.check(address, family === 6 ? "ipv6" : "ipv4");
}
