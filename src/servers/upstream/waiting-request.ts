import type { AbortListener } from "../../kernel/runtime/abort.ts";
import type { Reply, UpstreamRequest } from "./connection.ts";

/**
 * One request that waits for its answer. It is itself the listener for the caller's cancellation, so that a call
 * needs no closure for that.
 */
export class WaitingRequest implements AbortListener {
  readonly id: number;
  readonly request: UpstreamRequest;
  readonly startedMs: number;
  settle: (reply: Reply) => void = ignore;
  reject: (error: Error) => void = ignore;
  readonly #onCancel: (id: number) => void;
  /** When the server has been silent for too long (performance.now); Infinity while a person is being asked. */
  deadlineMs = Number.POSITIVE_INFINITY;
  /** How many questions a person is answering now; meanwhile the deadline is suspended. */
  asking = 0;
  /** Ms spent on such questions, which do not count towards the maximum. */
  askedMs = 0;

  constructor(id: number, request: UpstreamRequest, onCancel: (id: number) => void) {
    this.id = id;
    this.request = request;
    this.startedMs = performance.now();
    this.#onCancel = onCancel;
  }

  /** Sets the functions that settle the request's promise; call it first. */
  settledBy(settle: (reply: Reply) => void, reject: (error: Error) => void): void {
    this.settle = settle;
    this.reject = reject;
  }

  /** Sets the deadline: the longest silence from now on, but no later than the maximum for the whole request. */
  setDeadline(nowMs: number): void {
    const { timeoutMs, maxTimeoutMs } = this.request;
    const spentMs = nowMs - this.startedMs - this.askedMs;
    const silenceMs = Math.min(timeoutMs, Math.max(1, maxTimeoutMs - spentMs));
    this.deadlineMs = this.asking > 0 ? Number.POSITIVE_INFINITY : nowMs + silenceMs;
  }

  /**
   * Runs `ask` with the deadline suspended, because the time in which a person is asked does not count. Set the
   * deadline again afterwards.
   */
  async withClockStopped<T>(ask: () => Promise<T>): Promise<T> {
    const askedAtMs = performance.now();
    this.asking += 1;
    this.deadlineMs = Number.POSITIVE_INFINITY;
    try {
      return await ask();
    } finally {
      this.asking -= 1;
      this.askedMs += performance.now() - askedAtMs;
    }
  }

  handleEvent(): void {
    this.#onCancel(this.id);
  }
}

function ignore(): void {}
