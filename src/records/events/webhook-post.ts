import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isListed, toBlockList } from "../../kernel/text/host-addresses.ts";
import { isPublicAddress } from "../../servers/logins/protocol/addresses.ts";

/** A request to a webhook. */
export interface WebhookPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How long a receiver may take in all; one that works for longer should answer first. */
const timeoutMs = 10_000;
/** Of an answer nothing is used but its status. */
const mostAnswerBytes = 65_536;

/**
 * Sends one POST to an address that may be sent to, and follows no redirect. Resolves to undefined when the receiver
 * has it (status 2xx), otherwise to the reason, which holds nothing of what was sent or answered. Never rejects.
 */
export async function postWebhook(
  { url, headers, body }: WebhookPost,
  addresses: WebhookAddresses,
  signal: AbortSignal,
): Promise<string | undefined> {
  const refusal = addresses.refusalOf(url);
  if (refusal !== undefined) return refusal;
  if (signal.aborted) return "the gateway is stopping";
  return await new Promise((resolve) => {
    const bytes = Buffer.from(body, "utf8");
    const outgoing = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      method: "POST",
      headers: { ...headers, "Content-Length": String(bytes.length) },
      agent: false,
      lookup: addresses.lookupFor(url),
      signal,
    });
    const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs);
    outgoing.once("response", (response) => {
      drain(response, () => outgoing.destroy());
      const { statusCode = 0 } = response;
      resolve(statusCode >= 200 && statusCode < 300 ? undefined : `it answered with status ${statusCode}`);
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      resolve(signal.aborted ? "the gateway is stopping" : (error.code ?? error.message));
    });
    outgoing.once("close", () => clearTimeout(timer));
    outgoing.end(bytes);
  });
}

function drain(response: IncomingMessage, giveUp: () => void): void {
  let bytes = 0;
  response.on("error", giveUp);
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostAnswerBytes) giveUp();
  });
}

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
