import type { ServerResponse } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/** A signal that aborts when the client leaves before it was answered. */
export function abortedWith(response: ServerResponse, controller = new AbortController()): AbortSignal {
  const leave = (): void => {
    if (!response.writableFinished)
      controller.abort(new GatewayError("CALL_CANCELLED", "the client closed the request"));
  };
  // A client that left while its body was judged is not reported again.
  if (response.destroyed) leave();
  else response.on("close", leave);
  return controller.signal;
}
