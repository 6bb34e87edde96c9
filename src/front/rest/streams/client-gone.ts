import type { ServerResponse } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/** A signal that aborts when the client leaves before it was answered. */
export function abortedWith(response: ServerResponse, controller = new AbortController()): AbortSignal {
  response.on("close", () => {
    if (!response.writableFinished)
      controller.abort(new GatewayError("CALL_CANCELLED", "the client closed the request"));
  });
  return controller.signal;
}
