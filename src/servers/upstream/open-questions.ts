import { abortReason } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";

/**
 * Questions of one server that wait for their answer, by the server's own ids: it may take one back (2025-11-25,
 * cancellation).
 */
export interface OpenQuestions {
  /** The signal of a question: aborts with that of its call, or when the server takes it back. */
  open(id: string | number, ofCall: AbortSignal): AbortSignal;
  /** To be called once it is over. True unless the server took it back: then it wants no answer. */
  close(id: string | number): boolean;
  takeBack(id: unknown): void;
}

interface OpenQuestion {
  readonly controller: AbortController;
  isTakenBack: boolean;
  leave(): void;
}

export function createOpenQuestions(server: string): OpenQuestions {
  const open = new Map<unknown, OpenQuestion>();
  return {
    open(id, ofCall) {
      const controller = new AbortController();
      const end = () => controller.abort(abortReason(ofCall));
      ofCall.addEventListener("abort", end, { once: true });
      open.set(id, { controller, isTakenBack: false, leave: () => ofCall.removeEventListener("abort", end) });
      return controller.signal;
    },
    close(id) {
      const question = open.get(id);
      open.delete(id);
      question?.leave();
      return question?.isTakenBack !== true;
    },
    takeBack(id) {
      const question = open.get(id);
      if (question === undefined) return;
      question.isTakenBack = true;
      question.controller.abort(new GatewayError("CALL_CANCELLED", `${server} took its question back`));
    },
  };
}
