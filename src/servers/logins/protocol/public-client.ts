import type { LookupFunction } from "node:net";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { CreateHttpClient } from "../../../wire/http/http-client.ts";
import { createSocketPool } from "../../../wire/http/socket-pool.ts";
import { createAddressRules } from "./addresses.ts";

/** How a server that a team chose is reached otherwise, and whether a proxy looks its name up. */
export interface ReachedBy {
  readonly createClient: CreateHttpClient | undefined;
  readonly isProxied: boolean;
}

/**
 * A client for a server that a team chose: it connects to addresses in the public Internet alone, wherever the name
 * leads at that moment (fault 104). Rejects with LOGIN_FAILED for an address that is not, and for a name that a proxy
 * would look up and this machine knows to lead elsewhere.
 */
export async function createPublicClient(
  hostname: string,
  { createClient = createSocketPool, isProxied }: ReachedBy,
): Promise<CreateHttpClient> {
  const rules = createAddressRules("public");
  rules.checkHost(hostname);
  if (isProxied) await rules.checkName(hostname);
  const lookup: LookupFunction = (name, options, callback) =>
    rules.lookup(name, options, (error, address, family) =>
      callback(error instanceof GatewayError ? new Error(refusal) : error, address, family),
    );
  return (options) => createClient({ ...options, lookup });
}

const refusal =
  "its name leads to this machine or into a private network, where only templates that an admin of the gateway " +
  "wrote may lead";
