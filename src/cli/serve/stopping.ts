import type { Log } from "../../kernel/runtime/log.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";

/** How a gateway ends: the first request drains it, a second one makes it hurry (fault 108). */
export interface Stopping {
  /** Resolves to the reason when the gateway is to stop. */
  readonly reason: Promise<string>;
  /** Aborts at the same moment. */
  readonly asked: AbortSignal;
  ask(reason: string): void;
  /** Aborts at the second request. */
  readonly hurried: AbortSignal;
  /** Aborts when servers are to be waited for no longer: `wholeStopMs` after the request. */
  waitUntil(wholeStopMs: number): AbortSignal;
  /** Ends the process soon, whatever a library still holds open. */
  exitSoon(): void;
}

/** The time that is left after a second signal. */
const hurriedStopMs = 4_000;
const lingerMs = 500;

/**
 * Listens from now on to SIGINT, SIGTERM and SIGHUP (the terminal was closed; Node offers no equivalent of nohup).
 */
export function createStopping(log: Log): Stopping {
  const asked = new AbortController();
  const hurried = new AbortController();
  let settle: (reason: string) => void = () => undefined;
  let askedAtMs: number | undefined;
  const reason = new Promise<string>((resolve) => {
    settle = resolve;
  });

  function ask(why: string): void {
    if (askedAtMs !== undefined) {
      hurried.abort(new Error("asked twice"));
      return;
    }
    askedAtMs = performance.now();
    log.info({ component: "app", operation: "stop" }, `stopping: ${why}`);
    asked.abort(new Error(why));
    settle(why);
  }

  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => ask(name));
  return {
    reason,
    asked: asked.signal,
    ask,
    hurried: hurried.signal,
    waitUntil(wholeStopMs) {
      const leftMs = Math.max(0, Math.ceil(wholeStopMs - (performance.now() - (askedAtMs ?? performance.now()))));
      const end = new AbortController();
      const hurry = (): void =>
        void setTimeout(() => end.abort(new Error("asked twice")), Math.min(leftMs, hurriedStopMs)).unref();
      if (hurried.signal.aborted) hurry();
      else hurried.signal.addEventListener("abort", hurry, { once: true });
      return abortAfter(leftMs, end.signal);
    },
    exitSoon() {
      setTimeout(() => process.exit(0), lingerMs).unref();
    },
  };
}

export interface UseOptions {
  readonly isUsed: () => boolean;
  /** Grows with every use, so that a use between two checks is noticed. */
  readonly uses: () => number;
  readonly afterMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Calls `run` once it has been unused for `afterMs`. */
export function whenUnused({ isUsed, uses, afterMs, clock, signal }: UseOptions, run: () => void): void {
  const lookMs = Math.max(50, Math.min(afterMs / 4, 30_000));
  let lastUseMs = clock.monotonic();
  let seen = uses();
  const look = (): void => {
    if (signal.aborted) return;
    const nowMs = clock.monotonic();
    if (isUsed() || uses() !== seen) lastUseMs = nowMs;
    seen = uses();
    if (nowMs - lastUseMs >= afterMs) run();
    else clock.after(lookMs, look);
  };
  clock.after(lookMs, look);
}
