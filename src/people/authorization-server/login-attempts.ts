import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";

/** Counts what somebody may try only so often. */
export interface Attempts {
  /** Throws RATE_LIMITED when there were too many from one of these. */
  check(keys: readonly string[]): void;
  count(keys: readonly string[]): void;
  /** It went well: those before it are forgotten. */
  forget(key: string): void;
}

interface Tries {
  count: number;
  untilMs: number;
}

/** Names and addresses that are remembered; beyond it the one that tried least lately is forgotten. */
const mostKeys = 10_000;

/** So many within a window, which begins with the first. */
export function createAttempts(clock: Pick<Clock, "monotonic">, most: number, windowMs: number): Attempts {
  const tries = new Map<string, Tries>();

  function triesOf(key: string): Tries | undefined {
    const found = tries.get(key);
    if (found !== undefined && found.untilMs <= clock.monotonic()) tries.delete(key);
    return tries.get(key);
  }

  return {
    check(keys) {
      const full = keys.map(triesOf).filter((found) => found !== undefined && found.count >= most);
      if (full.length === 0) return;
      const untilMs = Math.max(...full.map((found) => found?.untilMs ?? 0));
      throw new GatewayError("RATE_LIMITED", "that was tried too often", {
        data: { retry_after_s: Math.max(1, Math.ceil((untilMs - clock.monotonic()) / 1_000)) },
      });
    },
    count(keys) {
      for (const key of keys) {
        const found = triesOf(key) ?? { count: 0, untilMs: clock.monotonic() + windowMs };
        found.count += 1;
        tries.delete(key);
        tries.set(key, found);
        const oldest = tries.keys().next();
        if (tries.size > mostKeys && oldest.done !== true) tries.delete(oldest.value);
      }
    },
    forget: (key) => void tries.delete(key),
  };
}
