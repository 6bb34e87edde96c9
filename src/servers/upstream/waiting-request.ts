import type { Reply, UpstreamRequest } from "./connection.ts";

/** One request that waits. It is its own listener for the caller's cancellation: nothing is made for it per call. */
export class WaitingRequest implements EventListenerObject {
  readonly id: number;
  readonly request: UpstreamRequest;
  readonly startedMs: number;
  readonly settle: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly #onCancel: (id: number) => void;
  /** When silence has lasted too long; Infinity while a person is being asked. */
  deadlineMs = Number.POSITIVE_INFINITY;
  /** Questions that a person is answering now: the clock stands still. */
  asking = 0;
  /** Time spent on such questions: not counted against the maximum. */
  askedMs = 0;

  constructor(
    id: number,
    request: UpstreamRequest,
    settle: (reply: Reply) => void,
    reject: (error: Error) => void,
    onCancel: (id: number) => void,
  ) {
    this.id = id;
    this.request = request;
    this.startedMs = performance.now();
    this.settle = settle;
    this.reject = reject;
    this.#onCancel = onCancel;
  }

  /** From now on silence counts; how long all of it has taken, too. */
  setDeadline(nowMs: number): void {
    const { timeoutMs, maxTimeoutMs } = this.request;
    const spentMs = nowMs - this.startedMs - this.askedMs;
    const silenceMs = Math.min(timeoutMs, Math.max(1, maxTimeoutMs - spentMs));
    this.deadlineMs = this.asking > 0 ? Number.POSITIVE_INFINITY : nowMs + silenceMs;
  }

  handleEvent(): void {
    this.#onCancel(this.id);
  }
}

interface EventListenerObject {
  handleEvent(event: Event): void;
}
