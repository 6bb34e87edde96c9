import type { ServerResponse } from "node:http";
import type { CallContext } from "../../kernel/call/call-context.ts";
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
 * Does what takes long for whoever asked. Its signal aborts with the client's connection, and with the principal's
 * right to be here: a reader who does not read could have an answer of many megabytes last for days.
 */
export async function whileAllowed<Result>(
  deps: Pick<RestDeps, "track">,
  { principal, response }: Asking,
  act: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const untrack = deps.track(principal, controller);
  try {
    return await act(abortedWith(response, controller));
  } finally {
    untrack();
  }
}

/** Does what a request asks of a server, with the same end. */
export async function whileTracked(
  deps: Pick<RestDeps, "track">,
  asking: Asking,
  act: (context: CallContext) => Promise<Answer>,
): Promise<Answer> {
  return await whileAllowed(deps, asking, async (signal) => await act(restContext(asking.principal, signal)));
}
