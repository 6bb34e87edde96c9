import type { CallContext } from "../../kernel/call/call-context.ts";
import type { OperationRequest } from "../operation.ts";
import type { Services } from "../services.ts";
import type { Principal } from "../../kernel/principal.ts";
import { newestLegacyRevision } from "../../wire/mcp/revisions.ts";

/**
 * Does what takes long. Its signal aborts with the sender's connection, and when the sender's principal loses access:
 * a reader who does not read could have an answer of many megabytes last for days.
 */
export async function whileAllowed<Result>(
  services: Pick<Services, "track">,
  { principal, signal }: Pick<OperationRequest, "principal" | "signal">,
  act: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const leave = (): void => controller.abort(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  const untrack = services.track(principal, controller);
  try {
    return await act(controller.signal);
  } finally {
    untrack();
    signal.removeEventListener("abort", leave);
  }
}

/** Asks a server for something, with the same end. */
export async function whileTracked<Result>(
  services: Pick<Services, "track">,
  asking: Pick<OperationRequest, "principal" | "signal">,
  act: (context: CallContext) => Promise<Result>,
): Promise<Result> {
  return await whileAllowed(services, asking, async (signal) => await act(restContext(asking.principal, signal)));
}

/** A REST client says nothing of itself, and can be asked nothing unless its request says so (`askedBy`). */
export function restContext(
  principal: Principal,
  signal: AbortSignal,
  more?: Pick<CallContext, "onProgress" | "onLog" | "meta" | "isTrial">,
): CallContext {
  const sender = principal.via === "owner" ? terminal : rest;
  return { principal, signal, ...sender, waitedMs: 0, forProgram: true, ...more };
}

const restClient: CallContext["client"] = Object.freeze({
  era: "legacy",
  revision: newestLegacyRevision,
  capabilities: Object.freeze({}),
});

const rest = Object.freeze({ via: "rest", client: restClient } as const);
/** A person who types commands. */
const terminal = Object.freeze({
  via: "owner",
  client: Object.freeze({ ...restClient, name: "toolyard-cli" }),
} as const);
