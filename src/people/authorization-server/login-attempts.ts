import { isIP } from "node:net";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

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
