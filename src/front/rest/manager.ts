import type { IncomingMessage } from "node:http";
import { requireRecentLogin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isFromDashboard } from "../web/session-request.ts";
import type { RestDeps } from "./deps.ts";
import type { Management } from "./management.ts";
import { loginAgeMs } from "./people-request.ts";
import type { RestRequest } from "./route.ts";

/**
 * What changes the configuration starts programs, so that being able to reach the gateway is not enough: it takes an
 * admin who is logged in at the dashboard, or has a token. In a gateway without credentials nobody has one; any program
 * and any user of the machine could say to be its owner. Throws FORBIDDEN.
 */
export function requireManager(deps: RestDeps, { raw, principal }: Pick<RestRequest, "raw" | "principal">): Management {
  requireOwner(deps, { raw, principal });
  const { management } = deps;
  if (management !== undefined) return management;
  throw new GatewayError("FORBIDDEN", "the configuration of this gateway is not changed over REST", {
    hint: "Change it where the gateway is started.",
  });
}

/**
 * A stolen token must not start programs: in a gateway for teams, what brings one in takes a login with a browser of
 * the last minutes as well. Throws LOGIN_NOT_RECENT. Without people of its own a gateway has no such logins.
 */
export function requireLoginForPrograms(deps: RestDeps, request: IncomingMessage): void {
  if (deps.people() !== undefined) requireRecentLogin(loginAgeMs(deps, request));
}

/** The same for what shows only whoever runs the gateway something. Throws FORBIDDEN. */
export function requireOwner(deps: RestDeps, { raw, principal }: Pick<RestRequest, "raw" | "principal">): void {
  if (!principal.roles.includes("admin")) throw new GatewayError("FORBIDDEN", "only an admin may do that");
  // A request with the header of a session has a valid one by now.
  if (!deps.isOpen() || isFromDashboard(raw)) return;
  throw new GatewayError("FORBIDDEN", "that takes a login, because this gateway asks nobody who they are", {
    hint: "Use the dashboard (`toolyard open`) or a command of `toolyard`.",
  });
}
