import { GatewayError } from "../shared/gateway-error.ts";

/** Questions of one server that wait for their answer, by the server's own ids: it may take one back (2025-11-25, cancellation). */
export interface OpenQuestions {
  /** The signal of a question: aborts with that of its call, or when the server takes it back. */
  open(id: string | number, ofCall: AbortSignal): AbortSignal;
  /** True unless the server took it back: then it wants no answer. */
  close(id: string | number): boolean;
  takeBack(id: unknown): void;
}

export function createOpenQuestions(server: string): OpenQuestions {
  const open = new Map<unknown, AbortController>();
  return {
    open(id, ofCall) {
      const controller = new AbortController();
      open.set(id, controller);
      return AbortSignal.any([ofCall, controller.signal]);
    },
    close(id) {
      const wanted = open.get(id)?.signal.aborted !== true;
      open.delete(id);
      return wanted;
    },
    takeBack: (id) => open.get(id)?.abort(new GatewayError("CALL_CANCELLED", `${server} took its question back`)),
  };
}
