import type { IncomingMessage } from "node:http";
import { untilAborted } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Directory } from "../directory/directory.ts";

/**
 * Waits until the directory has found whoever sent a request. Rejects with `refusal` when there is nobody, or not any
 * more; CALL_CANCELLED when the client has gone; DIRECTORY_UNAVAILABLE when it takes too long, too many wait, or the
 * directory itself fails: what it failed with may hold addresses and passwords, and whoever asks is nobody yet.
 */
export type LookUp = (
  request: IncomingMessage,
  find: (signal: AbortSignal) => Promise<Principal | undefined>,
  refusal: () => GatewayError,
) => Promise<Principal>;

/** A directory answers in milliseconds; a client that has waited this long tries again better. */
const longestMs = 10_000;
/** Anybody can send tokens that nobody has: more than these at once are no people who connect. */
const mostWaiting = 1_000;

export function createLookUp(directory: Pick<Directory, "isCurrent">, onFailure: (error: unknown) => void): LookUp {
  let waiting = 0;

  return async (request, find, refusal) => {
    if (waiting >= mostWaiting)
      throw new GatewayError("DIRECTORY_UNAVAILABLE", `${waiting} requests wait to learn who sent them`);
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
      // It may have changed between its answer and now.
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
