import type { Users } from "../../servers/instance/users.ts";
import type { CallContext } from "../../kernel/call-context.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import type { ServerAnswer } from "./server-answer.ts";

/**
 * The answer with the reason why what the server held for this client is gone, once, and only when it reaches the
 * client: an error has no place for it, a question is not the end, and then the next result will do.
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
