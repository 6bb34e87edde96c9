import type { ServerResponse } from "node:http";
import type { CallContext } from "../../kernel/call-context.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Answer } from "./answer.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { restContext } from "./execute.ts";

/** Whom an answer is for, and the connection that it goes to. */
interface Asking {
  readonly principal: Principal;
  readonly response: ServerResponse;
}

/**
 * Does what a request asks of a server. It ends with the client's connection, and with the principal's right to be
 * here.
 */
export async function whileTracked(
  deps: Pick<RestDeps, "track">,
  { principal, response }: Asking,
  act: (context: CallContext) => Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController();
  const untrack = deps.track(principal, controller);
  try {
    return await act(restContext(principal, abortedWith(response, controller)));
  } finally {
    untrack();
  }
}
