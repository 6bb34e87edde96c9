import type { IncomingMessage } from "node:http";
import { untilAborted } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Directory } from "../directory/directory.ts";

/**
 * Waits until the directory has found the sender of a request. Rejects with
 *
 * - `refusal` when there is no such person, or the principal is no longer valid;
 * - CALL_CANCELLED when the client has disconnected;
 * - DIRECTORY_UNAVAILABLE when the lookup takes too long, too many are waiting, or the directory fails. The
 *   directory's own error is logged only: it may contain addresses and passwords, and the sender is not authenticated
 *   yet.
 */
export type LookUp = (
  request: IncomingMessage,
  find: (signal: AbortSignal) => Promise<Principal | undefined>,
  refusal: () => GatewayError,
) => Promise<Principal>;

/** A directory answers in milliseconds; after this time the client had better try again. */
const longestMs = 10_000;
/**
 * Requests that may wait for a lookup at a time. Anybody can send made-up tokens, so there must be a limit; people
 * who connect never reach it.
 */
const mostWaiting = 1_000;

/** A {@link LookUp} with a limit on its duration and on how many wait. `onFailure` gets the directory's own errors. */
export function createLookUp(directory: Pick<Directory, "isCurrent">, onFailure: (error: unknown) => void): LookUp {
  let waiting = 0;

  return async (request, find, refusal) => {
    if (waiting >= mostWaiting)
      throw new GatewayError(
        "DIRECTORY_UNAVAILABLE",
        `${waiting} requests are already waiting for the directory to find their senders`,
      );
    const controller = new AbortController();
    const onClose = (): void =>
      controller.abort(new GatewayError("CALL_CANCELLED", "the client closed the connection"));
    const timer = setTimeout(
      () =>
        controller.abort(
          new GatewayError("DIRECTORY_UNAVAILABLE", `the directory did not answer within ${longestMs / 1_000} s`),
        ),
      longestMs,
    );
    request.socket.once("close", onClose);
    waiting += 1;
    try {
      const principal = await untilAborted(find(controller.signal), controller.signal);
      // The person may have changed between the directory's answer and now.
      if (principal === undefined || !directory.isCurrent(principal)) throw refusal();
      return principal;
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      onFailure(error);
      throw new GatewayError("DIRECTORY_UNAVAILABLE", "the directory of people failed", { cause: error });
    } finally {
      waiting -= 1;
      clearTimeout(timer);
      request.socket.off("close", onClose);
    }
  };
}
