import { requireRecentLogin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Services } from "../services.ts";
import type { MachineCode, MachineOrders, Management } from "./management.ts";
import type { OperationRequest, RequestFacts } from "../operation.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import * as z from "zod";
import * as schemas from "../schemas.ts";

/**
 * Changes of the configuration start programs, so that being able to reach the gateway is not enough: it takes an admin
 * who is logged in at the dashboard, or has a token. A gateway without credentials gives none; any program and any user
 * of the machine could say to be its owner. Throws FORBIDDEN.
 */
export function requireManager(
  services: Services,
  asking: Pick<OperationRequest, "principal" | "isFromDashboard">,
): Management {
  requireOwner(services, asking);
  const { management } = services;
  if (management !== undefined) return management;
  throw new GatewayError("FORBIDDEN", "the configuration of this gateway is not changed over REST", {
    hint: "Change it where the gateway is started.",
  });
}

/**
 * A stolen token must not start programs: in a gateway for teams, what brings one in takes a login with a browser of
 * the last minutes as well. Throws LOGIN_NOT_RECENT. Without people of its own a gateway has no such logins.
 */
export function requireLoginForPrograms(services: Services, asking: Pick<OperationRequest, "loginAgeMs">): void {
  if (services.people() !== undefined) requireRecentLogin(asking.loginAgeMs());
}

/** The same for data that only those who run the gateway may see. Throws FORBIDDEN. */
export function requireOwner(
  services: Pick<Services, "isOpen">,
  asking: Pick<OperationRequest, "principal" | "isFromDashboard">,
): void {
  const { principal, isFromDashboard } = asking;
  if (!principal.roles.includes("admin")) throw new GatewayError("FORBIDDEN", "only an admin may do that");
  // A request with the header of a session has a valid one by now.
  if (!services.isOpen() || isFromDashboard || principal.via === "owner") return;
  throw new GatewayError("FORBIDDEN", "that takes a login, because this gateway asks nobody who they are", {
    hint: "Use the dashboard (`toolyard open`) or a command of `toolyard`.",
  });
}

/**
 * Throws CONFIG_CHANGED, with the present version, where `If-Match` names another version of it. Without the header, or
 * with `*`, any version is changed.
 *
 * @param what for the message: "the entry of github"
 */
export function requireVersion(
  { ifMatch }: Pick<RequestFacts, "ifMatch">,
  etag: string,
  what: string,
  current: JsonObject,
): void {
  const asked = ifMatch?.trim();
  if (asked === undefined || asked === "*" || asked === etag) return;
  throw new GatewayError("CONFIG_CHANGED", `${what} was changed by somebody else in the meantime`, {
    data: { current: { ...current, etag } },
  });
}

/** What came of an order, for people and for programs. */
export const outcome = z
  .object({
    ok: z.boolean(),
    text: z.string().describe("For people: the change, or why there is none."),
    facts: z.array(schemas.json).describe("For programs."),
  })
  .meta({ id: "OrderOutcome" });

export type Outcome = z.output<typeof outcome>;

/** Writes the coming change into the audit. Throws FORBIDDEN for all who may not manage the gateway. */
export async function order(
  services: Services,
  request: OperationRequest,
  action: string,
  object: string,
): Promise<void> {
  requireManager(services, request);
  const { id: actor, team } = request.principal;
  await services.audit.order({ actor, team, via: request.via, action, object });
}

/** What an order on the machine works with. */
export interface OnMachine {
  readonly machine: MachineOrders;
  readonly code: MachineCode;
  /** Aborts when the sender leaves, and when it takes too long. */
  readonly signal: AbortSignal;
}

/**
 * Does some work on the machine of the gateway. Throws FORBIDDEN for all who may not manage it, before anything is
 * done, and RATE_LIMITED while too much is done already.
 */
export async function onMachine<T>(
  services: Services,
  request: OperationRequest,
  work: (means: OnMachine) => Promise<T>,
): Promise<T> {
  const { machine } = requireManager(services, request);
  return await machine.order(request.signal, async (code, signal) => await work({ machine, code, signal }));
}
