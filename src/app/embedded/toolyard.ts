import type { Gateway, GatewayOptions } from "./embedding-types.ts";
import { openEmbedded } from "./embedded-gateway.ts";

export type * from "./embedding-types.ts";

/**
 * Starts a gateway in this process: reads its configuration, starts its servers, and returns an object to use it.
 * Resolves before the servers are up; calls and searches wait for the servers that they need. Rejects with
 * CONFIG_INVALID when the configuration is wrong.
 */
export async function createGateway(options: GatewayOptions = {}): Promise<Gateway> {
  return await openEmbedded(options);
}
