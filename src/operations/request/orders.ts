import * as z from "zod";
import type { OperationRequest } from "../operation.ts";
import * as schemas from "../schemas.ts";
import type { Services } from "../services.ts";
import type { MachineCode, MachineOrders } from "./management.ts";
import { requireManager } from "./manager.ts";

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
