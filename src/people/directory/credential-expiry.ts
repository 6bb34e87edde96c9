import type { Principal } from "../../kernel/principal.ts";

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
