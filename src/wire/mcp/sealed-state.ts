import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { GatewayError } from "../../kernel/gateway-error.ts";

/** What a sealed `requestState` is bound to (2026-07-28, patterns/mrtr, server requirements). */
export interface StateBinding {
  readonly principal: string;
  /** Method and salient parameters of the request that it may come back on. */
  readonly request: string;
}

export interface SealedStates {
  /** An opaque string that holds `state` for this principal and request, for a limited time. */
  seal(state: string, binding: StateBinding): string;
  /**
   * The state that was sealed. Throws HANDLE_INVALID when it was altered, is another's, has expired, or was used before
   * (fault 48).
   */
  open(sealed: string, binding: StateBinding): string;
}

/**
 * Used ones are remembered until they expire, at most this many; beyond it the oldest could be replayed within its
 * time.
 */
const rememberedUses = 100_000;

/** The key lives as long as the process: a state does not outlive the gateway that gave it out. */
export function createSealedStates(lifetimeMs: number, now: () => number): SealedStates {
  const key = randomBytes(32);
  const used = new Map<string, number>();

  function digest(payload: string, binding: StateBinding): Buffer {
    return createHmac("sha256", key)
      .update(JSON.stringify([payload, binding.principal, createHash("sha256").update(binding.request).digest("hex")]))
      .digest();
  }

  function forgetExpired(): void {
    for (const [nonce, expiresMs] of used) {
      if (expiresMs > now() && used.size <= rememberedUses) return;
      used.delete(nonce);
    }
  }

  return {
    seal(state, binding) {
      const payload = Buffer.from(
        JSON.stringify({ s: state, e: now() + lifetimeMs, n: randomBytes(12).toString("base64url") }),
      ).toString("base64url");
      return `ty1.${payload}.${digest(payload, binding).toString("base64url")}`;
    },
    open(sealed, binding) {
      const [mark, payload, mac, rest] = sealed.split(".");
      if (mark !== "ty1" || payload === undefined || mac === undefined || rest !== undefined)
        throw invalid("it is not one that this gateway gave out");
      const given = Buffer.from(mac, "base64url");
      const right = digest(payload, binding);
      if (given.length !== right.length || !timingSafeEqual(given, right))
        throw invalid("it was altered, or belongs to another caller or request");
      const { s, e, n } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as {
        s: string;
        e: number;
        n: string;
      };
      if (now() > e) throw invalid("it has expired");
      if (used.has(n)) throw invalid("it was used before");
      used.set(n, e);
      forgetExpired();
      return s;
    },
  };
}

function invalid(why: string): GatewayError {
  return new GatewayError("HANDLE_INVALID", `the requestState is not accepted: ${why}`);
}
