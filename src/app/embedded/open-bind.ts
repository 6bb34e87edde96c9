import type { Config } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * Makes sure that a gateway does not listen beyond this machine by accident (docs/design.md, "Safe by default"), and
 * that a gateway for teams can keep its people. Throws BIND_REFUSED and CONFIG_INVALID.
 */
export function refuseOpenBind(config: Config, host: string): void {
  const { auth, team, publicUrl, records } = config.settings;
  const loopback = host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
  if (team && records.store === "off")
    throw new GatewayError("CONFIG_INVALID", "a gateway for teams keeps its people in a database, and it is off", {
      hint: 'Set toolyard.records.store to "sqlite", or leave --team out.',
    });
  if (team && !loopback && (publicUrl === undefined || new URL(publicUrl).protocol !== "https:"))
    throw new GatewayError("BIND_REFUSED", `${host} can be reached from other machines, and tokens would be readable`, {
      hint: "Put a proxy with TLS in front and name its address with --public-url https://..., or listen on 127.0.0.1.",
    });
  const authenticated = team || auth.tokenHashes.length > 0 || config.people.principals.size > 0;
  if (!loopback && !authenticated && !auth.insecure)
    throw new GatewayError("BIND_REFUSED", `${host} can be reached from other machines, and no token is configured`);
}
