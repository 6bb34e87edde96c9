import type { IncomingMessage } from "node:http";
import { requestPath } from "../public-url.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";

/** Somebody who guesses tokens must not fill every sink of events: the rest of a second is only counted. */
const mostPerSecond = 10;
const windowMs = 1_000;
const longestPath = 200;

/** Tells of requests whose credentials were refused. */
export function createDenials(
  events: Pick<EventBus, "emit">,
  clock: Pick<Clock, "now" | "monotonic">,
): (request: IncomingMessage) => void {
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let told = 0;
  let more = 0;

  return (request) => {
    const nowMs = clock.monotonic();
    if (nowMs - windowStartMs >= windowMs) {
      windowStartMs = nowMs;
      told = 0;
    }
    if (told >= mostPerSecond) {
      more += 1;
      return;
    }
    told += 1;
    events.emit({
      type: "auth.denied",
      atMs: clock.now(),
      address: request.socket.remoteAddress ?? "",
      method: request.method ?? "",
      // Without the query, in which a token may stand.
      path: requestPath(request.url ?? "/").slice(0, longestPath),
      more,
    });
    more = 0;
  };
}

/**
 * Calls `note` when a check throws or rejects because credentials are refused. Passes on whatever comes of the check.
 */
export function watchRefusals<Checked extends Principal | Promise<Principal>>(
  request: IncomingMessage,
  check: () => Checked,
  note: (request: IncomingMessage, error: GatewayError) => void,
): Checked {
  try {
    const found = check();
    if (found instanceof Promise) found.catch((error: unknown) => isRefusal(error) && note(request, error));
    return found;
  } catch (error) {
    if (isRefusal(error)) note(request, error);
    throw error;
  }
}

function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === "UNAUTHORIZED";
}
