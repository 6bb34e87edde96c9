import type { Reply, UpstreamRequest } from "./connection.ts";

/** One request that waits. It is its own listener for the caller's cancellation: nothing is made for it per call. */
export class WaitingRequest implements EventListenerObject {
  readonly id: number;
  readonly request: UpstreamRequest;
  readonly startedMs: number;
  settle: (reply: Reply) => void = ignore;
  reject: (error: Error) => void = ignore;
  readonly #onCancel: (id: number) => void;
  /** When silence has lasted too long; Infinity while a person is being asked. */
  deadlineMs = Number.POSITIVE_INFINITY;
  /** Questions that a person is answering now: the clock stands still. */
  asking = 0;
  /** Time spent on such questions: not counted against the maximum. */
  askedMs = 0;

  constructor(id: number, request: UpstreamRequest, onCancel: (id: number) => void) {
    this.id = id;
    this.request = request;
    this.startedMs = performance.now();
    this.#onCancel = onCancel;
  }

  /** To be called before it is entered anywhere. */
  settledBy(settle: (reply: Reply) => void, reject: (error: Error) => void): void {
    this.settle = settle;
    this.reject = reject;
  }

  /** From now on silence counts; how long all of it has taken, too. */
  setDeadline(nowMs: number): void {
    const { timeoutMs, maxTimeoutMs } = this.request;
    const spentMs = nowMs - this.startedMs - this.askedMs;
    const silenceMs = Math.min(timeoutMs, Math.max(1, maxTimeoutMs - spentMs));
    this.deadlineMs = this.asking > 0 ? Number.POSITIVE_INFINITY : nowMs + silenceMs;
  }

  /** Waits for a person, whose time to think does not count. The deadline has to be set anew when that is over. */
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

interface EventListenerObject {
  handleEvent(event: Event): void;
}

function ignore(): void {}
