import { createHash } from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AccessStore } from "../../store/access-store.ts";

/** Counts what somebody may try only so often. */
export interface Attempts {
  /** Throws RATE_LIMITED when there were too many from one of these. */
  check(keys: readonly string[]): void;
  count(keys: readonly string[]): void;
  /** It went well: those before it are forgotten. */
  forget(key: string): void;
}

/** The senders whose tries are counted together; none where the sender is not known. */
export function sendersOf(ip: string | null): readonly string[] {
  return ip === null ? [] : [senderNetwork(ip)];
}

/**
 * What counts as one sender: an IPv4 address, and of IPv6 the network of 64 bits, because the holder of one address
 * there has all of them.
 */
function senderNetwork(ip: string): string {
  if (isIP(ip) !== 6) return ip;
  const [bare = ""] = ip.split("%", 1);
  // As a URL writes it: in hexadecimal, with the longest row of zeros left out.
  const [left = "", right] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const [first, last] = [groups(left), groups(right ?? "")];
  const all = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => "0"), ...last];
  const [high = "", low = ""] = all.slice(6);
  if (all.slice(0, 6).join(":") === "0:0:0:0:0:ffff") return [high, low].map(toDotted).join(".");
  return `${all.slice(0, 4).join(":")}::/64`;
}

function toDotted(group: string): string {
  const bits = Number.parseInt(group, 16);
  return `${Math.floor(bits / 256)}.${bits % 256}`;
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
      throw tooOften(untilMs - clock.monotonic());
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

/** Tries of one kind, each of which may have limits of several kinds: of its name, of its sender. */
export interface Limits {
  /** Counts a try under each key. Rejects with RATE_LIMITED, and counts none, when one of them was tried too often. */
  take(tries: readonly Try[]): Promise<void>;
  /** It went well: those before it are forgotten, as soon as that can be. */
  forget(key: string): void;
}

export interface Try {
  readonly key: string;
  /** Within the window. */
  readonly most: number;
}

export interface LimitsDeps {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly store: Pick<AccessStore, "isShared" | "takeAttempts" | "forgetAttempts">;
}

/**
 * Limits that count over all gateways of a database, where several may share one; otherwise in memory. `take` rejects
 * with STORE_UNAVAILABLE while such a database is away.
 *
 * @param what was tried: the same at all gateways, and for nothing else
 */
export function createLimits({ clock, store }: LimitsDeps, what: string, windowMs: number): Limits {
  return store.isShared ? createSharedLimits({ clock, store }, what, windowMs) : createOwnLimits(clock, windowMs);
}

function createOwnLimits(clock: LimitsDeps["clock"], windowMs: number): Limits {
  const byMost = new Map<number, Attempts>();
  const of = (most: number): Attempts => {
    const known = byMost.get(most) ?? createAttempts(clock, most, windowMs);
    byMost.set(most, known);
    return known;
  };
  return {
    async take(tries) {
      for (const { key, most } of tries) of(most).check([key]);
      for (const { key, most } of tries) of(most).count([key]);
      await Promise.resolve();
    },
    forget(key) {
      for (const attempts of byMost.values()) attempts.forget(key);
    },
  };
}

function createSharedLimits({ clock, store }: LimitsDeps, what: string, windowMs: number): Limits {
  // Of those that are known to be full the database is not asked: going on costs it nothing.
  const full = new Map<string, number>();

  // A name or an address is in no table of this.
  const keyOf = (key: string): string => createHash("sha256").update(`${what}\n${key}`).digest("base64url");

  function refuse(untilMs: number): GatewayError {
    return tooOften(untilMs - clock.now());
  }

  return {
    async take(tries) {
      const asked = tries.map(({ key, most }) => ({ key: keyOf(key), most }));
      const nowMs = clock.now();
      for (const { key } of asked) {
        const untilMs = full.get(key);
        if (untilMs !== undefined && untilMs > nowMs) throw refuse(untilMs);
        full.delete(key);
      }
      const found = await store.takeAttempts({ tries: asked, windowMs, nowMs });
      if (found === undefined) return;
      full.set(found.key, found.untilMs);
      const oldest = full.keys().next();
      if (full.size > mostKeys && oldest.done !== true) full.delete(oldest.value);
      throw refuse(found.untilMs);
    },
    // One that is kept ends with its window.
    forget: (key) => void store.forgetAttempts([keyOf(key)]).catch(() => undefined),
  };
}

function tooOften(leftMs: number): GatewayError {
  return new GatewayError("RATE_LIMITED", "that was tried too often", {
    data: { retry_after_s: Math.max(1, Math.ceil(leftMs / 1_000)) },
  });
}
