import { findClientProfile, type ClientProfile, type ClientProfiles } from "../../../config/rows/client-profiles.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Caller } from "../caller.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";

/** The profile of a client by what it calls itself (`clientInfo`); undefined for all that need none. */
export type ProfileOf = (clientInfo: unknown) => ClientProfile | undefined;

export function createProfileOf(profiles: () => ClientProfiles): ProfileOf {
  return (clientInfo) => {
    const name = isJsonObject(clientInfo) ? clientInfo["name"] : undefined;
    return typeof name === "string" ? findClientProfile(profiles(), name.slice(0, longestName)) : undefined;
  };
}

/** Names are compared with every row of the table: no client has one this long. */
const longestName = 200;

/**
 * Modern clients name themselves in each request, legacy ones when they initialize; without a session the client is
 * unknown.
 */
export function clientProfileOf(
  request: ClientRequest,
  caller: Caller,
  profileOf: ProfileOf,
): ClientProfile | undefined {
  if (caller.client.era === "legacy") return caller.session?.client;
  const meta = request.params["_meta"];
  return isJsonObject(meta) ? profileOf(meta[metaKeys.clientInfo]) : undefined;
}
