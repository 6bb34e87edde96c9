import type { Users } from "../../servers/instance/users.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import type { ServerAnswer } from "./server-answer.ts";

/**
 * Adds the reason why the server lost its state for this client. The reason is given once, and only with an answer that
 * has room for it: an error has none, and a question is not the end of the call. In both cases the next result carries
 * it.
 */
export function withLoss(
  answer: ServerAnswer,
  users: Users,
  context: CallContext,
  presenceOf: (context: CallContext) => ClientPresence,
): ServerAnswer {
  if (answer.kind === "error" || context.signal.aborted || answer.result.isQuestion) return answer;
  const loss = users.takeLoss(presenceOf(context));
  return loss === undefined ? answer : { ...answer, loss };
}
