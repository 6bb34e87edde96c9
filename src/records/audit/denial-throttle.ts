import type { Clock } from "../../kernel/runtime/clock.ts";
import type { AuditFacts, AuditLog } from "./audit-log.ts";

/** Denials on their way to the audit, as many of each sender as tell something. */
export interface DenialThrottle extends Disposable {
  note(facts: AuditFacts): void;
}

/** Entries of one sender in a minute: more are counted, and one entry tells how many there were. */
const mostPerMinute = 10;
/** Senders that are told apart in a minute. Those beyond share one count: addresses cost an attacker nothing. */
const mostSenders = 1_000;
const windowMs = 60_000;
const others = "others";

interface Window {
  readonly startedMs: number;
  told: number;
  more: number;
  last: AuditFacts;
}

export function createDenialThrottle(
  audit: Pick<AuditLog, "note">,
  clock: Pick<Clock, "monotonic" | "after">,
): DenialThrottle {
  const windows = new Map<string, Window>();
  let cancelSweep: (() => void) | undefined;

  function keyOf({ ip, actor }: AuditFacts): string {
    const key = JSON.stringify([ip ?? null, actor]);
    return windows.has(key) || windows.size < mostSenders ? key : others;
  }

  /** The entry is about one sender, or about all that share a count. */
  function tellMore(key: string, { more, last }: Window): void {
    if (more === 0) return;
    const { via, action } = last;
    const { actor, ip = null, team = null } = key === others ? { ...last, actor: "several", ip: null } : last;
    const detail = { entries: more, withinMs: windowMs };
    audit.note({ actor, via, team, ip, action: `${action}.more`, outcome: "denied", detail });
  }

  function sweep(all: boolean): void {
    cancelSweep?.();
    cancelSweep = undefined;
    const nowMs = clock.monotonic();
    for (const [key, window] of windows) {
      if (!all && nowMs - window.startedMs < windowMs) continue;
      windows.delete(key);
      tellMore(key, window);
    }
    if (windows.size > 0) cancelSweep = clock.after(windowMs, () => sweep(false));
  }

  return {
    note(facts) {
      const key = keyOf(facts);
      const nowMs = clock.monotonic();
      let window = windows.get(key);
      if (window !== undefined && nowMs - window.startedMs >= windowMs) {
        tellMore(key, window);
        window = undefined;
      }
      if (window === undefined) {
        window = { startedMs: nowMs, told: 0, more: 0, last: facts };
        windows.set(key, window);
      }
      cancelSweep ??= clock.after(windowMs, () => sweep(false));
      window.last = facts;
      if (window.told >= mostPerMinute) window.more += 1;
      else {
        window.told += 1;
        audit.note({ ...facts, outcome: "denied" });
      }
    },
    [Symbol.dispose]() {
      sweep(true);
    },
  };
}
