import { abortReason } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/**
 * Questions of one server that are waiting for an answer, by the server's own ids. A server may withdraw a question
 * (2025-11-25, cancellation).
 */
export interface OpenQuestions {
  /**
   * Returns the signal for a question. It aborts with the signal of its call, or when the server withdraws the
   * question.
   */
  open(id: string | number, ofCall: AbortSignal): AbortSignal;
  /**
   * Call when the question has been answered. Returns true unless the server has withdrawn it; then it must not get
   * the answer.
   */
  close(id: string | number): boolean;
  /** Call when the server withdraws a question. */
  withdraw(id: unknown): void;
}

interface OpenQuestion {
  readonly controller: AbortController;
  isWithdrawn: boolean;
  leave(): void;
}

/** No questions yet. `server` is the slug that messages name. */
export function createOpenQuestions(server: string): OpenQuestions {
  const open = new Map<unknown, OpenQuestion>();
  return {
    open(id, ofCall) {
      const controller = new AbortController();
      const end = () => controller.abort(abortReason(ofCall));
      ofCall.addEventListener("abort", end, { once: true });
      open.set(id, { controller, isWithdrawn: false, leave: () => ofCall.removeEventListener("abort", end) });
      return controller.signal;
    },
    close(id) {
      const question = open.get(id);
      open.delete(id);
      question?.leave();
      return question?.isWithdrawn !== true;
    },
    withdraw(id) {
      const question = open.get(id);
      if (question === undefined) return;
      question.isWithdrawn = true;
      question.controller.abort(new GatewayError("CALL_CANCELLED", `${server} withdrew its question`));
    },
  };
}
