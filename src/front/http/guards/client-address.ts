import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isListed, loopback, toBlockList } from "../../../kernel/text/address-ranges.ts";
import type { AddressSettings } from "../public-url.ts";

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
