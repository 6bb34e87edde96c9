import type { Users } from "../../servers/instance/users.ts";
import type { CallContext } from "../../kernel/call-context.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import type { Outcome } from "./relay.ts";

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
