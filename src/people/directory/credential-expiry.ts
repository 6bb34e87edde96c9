import type { Principal } from "../../kernel/principal.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";

/**
 * When credentials end that are renewed by another of the same key, such as the access tokens of one app. Until it is
 * renewed, the streams that it opened may not go on; a person who has nothing else is still the same principal.
 */
export interface CredentialEnds {
  /** One with this key is good until then. An earlier end changes nothing. */
  prolong(key: string, untilMs: number): void;
  /** This principal comes with credentials of the key. */
  bind(principal: Principal, key: string): void;
  /** Whether there is no credential any more with which this principal could come. */
  isOver(principal: Principal, nowMs: number): boolean;
  /** Forgets those that ended, and returns whether there were any. */
  forget(nowMs: number): boolean;
  /** Forgets one whose credentials were withdrawn. */
  drop(key: string): void;
  /** When the next one ends; Infinity where none does. */
  nextMs(): number;
}

export function createCredentialEnds(): CredentialEnds {
  const ends = new Map<string, number>();
  const keys = new WeakMap<Principal, string>();
  return {
    prolong(key, untilMs) {
      if ((ends.get(key) ?? 0) < untilMs) ends.set(key, untilMs);
    },
    bind: (principal, key) => void keys.set(principal, key),
    isOver(principal, nowMs) {
      const key = keys.get(principal);
      return key !== undefined && (ends.get(key) ?? 0) <= nowMs;
    },
    forget(nowMs) {
      const before = ends.size;
      for (const [key, untilMs] of ends) if (untilMs <= nowMs) ends.delete(key);
      return ends.size < before;
    },
    drop: (key) => void ends.delete(key),
    nextMs() {
      let next = Number.POSITIVE_INFINITY;
      for (const untilMs of ends.values()) if (untilMs < next) next = untilMs;
      return next;
    },
  };
}

/** One timer for whatever expires next, however much there is. */
export interface ExpiryAlarm {
  /** Something expires then. */
  expect(atMs: number): void;
  stop(): void;
}

/** What expires at about the same time ends together: looking through everything costs a millisecond. */
const grainMs = 500;
/** The longest wait: the clock of the machine may be changed meanwhile. */
const longestWaitMs = 60_000;

/**
 * @param ring ends what has expired, and returns the time (wall clock, in ms) at which something expires next. Called
 *   at most half a second after it was due, and once a minute in any case.
 */
export function createExpiryAlarm(clock: Pick<Clock, "now" | "after">, ring: () => number): ExpiryAlarm {
  let dueMs = Number.POSITIVE_INFINITY;
  let cancel = (): void => undefined;

  function set(atMs: number): void {
    const now = clock.now();
    dueMs = Math.min(Math.ceil(atMs / grainMs) * grainMs, now + longestWaitMs);
    cancel();
    cancel = clock.after(Math.max(0, dueMs - now), () => set(ring()));
  }
  set(Number.POSITIVE_INFINITY);

  return {
    expect(atMs) {
      if (Math.ceil(atMs / grainMs) * grainMs < dueMs) set(atMs);
    },
    stop: () => cancel(),
  };
}
