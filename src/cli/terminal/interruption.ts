import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * Ends what waits when somebody presses Ctrl-C, so that what was started is stopped before the command ends. `hint` is
 * what the person is told of what was under way.
 */
export function interrupted(hint = "Nothing was changed."): AbortSignal {
  const controller = new AbortController();
  const end = (): void => controller.abort(new GatewayError("CALL_CANCELLED", "interrupted", { hint }));
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  return controller.signal;
}
