import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isListed, toBlockList } from "../../kernel/text/address-ranges.ts";
import { isPublicAddress } from "../../servers/logins/protocol/addresses.ts";

/** Which addresses webhooks may be sent to (fault 104). */
export interface WebhookAddresses {
  /** Why a URL may not be sent to, as far as it can be seen from the URL. Undefined when it may. */
  refusalOf(url: URL): string | undefined;
  /** For the socket: refuses the address that is really connected to, however the name resolves at that moment. */
  lookupFor(url: URL): LookupFunction;
}

/** `allowed` are addresses and ranges outside the public Internet, or for which no encryption is needed. */
export function createWebhookAddresses(allowed: readonly string[]): WebhookAddresses {
  const list = toBlockList(allowed);
  const isAllowed = (address: string, isEncrypted: boolean): boolean =>
    isListed(list, address) || (isEncrypted && isPublicAddress(address));
  const refusal = (hostname: string, isEncrypted: boolean): string =>
    isEncrypted
      ? `${hostname} is not in the public Internet, and not among events.webhookAddresses`
      : `${hostname} is reached without encryption, and not among events.webhookAddresses`;

  return {
    refusalOf({ hostname, protocol }) {
      const address = hostname.replace(/^\[|\]$/g, "");
      const isEncrypted = protocol === "https:";
      return isIP(address) === 0 || isAllowed(address, isEncrypted) ? undefined : refusal(hostname, isEncrypted);
    },
    lookupFor({ protocol }) {
      const isEncrypted = protocol === "https:";
      return (hostname, options, callback) => {
        resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
          if (error !== null) callback(error, "", 0);
          else if (addresses.some(({ address }) => !isAllowed(address, isEncrypted)))
            callback(new Error(refusal(hostname, isEncrypted)), "", 0);
          else if (options.all === true) callback(null, addresses);
          else callback(null, addresses[0]?.address ?? "", addresses[0]?.family ?? 4);
        });
      };
    },
  };
}
