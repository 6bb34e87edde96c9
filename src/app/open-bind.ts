import type { Config } from "../config/config.ts";
import { GatewayError } from "../kernel/gateway-error.ts";

/**
 * Makes sure that nobody listens beyond this machine by accident (docs/design.md, "Safe by default"). Throws
 * BIND_REFUSED.
 */
export function refuseOpenBind(config: Config, host: string): void {
  const { auth } = config.settings;
  const loopback = host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
  const authenticated = auth.tokenHashes.length > 0 || config.people.principals.size > 0;
  if (!loopback && !authenticated && !auth.insecure)
    throw new GatewayError("BIND_REFUSED", `${host} can be reached from other machines, and no token is configured`);
}
