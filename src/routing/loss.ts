import type { Users } from "../instance/users.ts";
import type { CallContext } from "../shared/call-context.ts";
import type { ClientPresence } from "../shared/client-presence.ts";
import type { Outcome } from "./exchange.ts";

/**
 * The outcome with the reason why what the server held for this client is gone, once, and only when it reaches the client: an error has no place
 * for it, a question is not the end, and then the next result will do.
 */
export function withLoss(
  outcome: Outcome,
  users: Users,
  context: CallContext,
  presenceOf: (context: CallContext) => ClientPresence,
): Outcome {
  if (outcome.kind === "error" || context.signal.aborted) return outcome;
  if (outcome.parsed?.["resultType"] === "input_required") return outcome;
  const loss = users.takeLoss(presenceOf(context));
  return loss === undefined ? outcome : { ...outcome, loss };
}
