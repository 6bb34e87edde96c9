import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * What a sealed `requestState` is bound to (2026-07-28, patterns/mrtr, server requirements): it is accepted only from
 * the same principal and with the same request.
 */
export interface StateBinding {
  readonly principal: string;
  /** Method and significant parameters of the request that may return the state. */
  readonly request: string;
}

/** Seals the `requestState` that modern clients keep for us, so that a changed or reused one is noticed. */
export interface SealedStates {
  /** An opaque string that contains `state`, valid for this principal and request and for a limited time. */
  seal(state: string, binding: StateBinding): string;
  /**
   * Returns the state that was sealed; a promise where other gateways may have opened it. Throws, or rejects with,
   * HANDLE_INVALID when it was altered, has another binding, has expired, or was used before (fault 48). Rejects with
   * what `claim` rejects with.
   */
  open(sealed: string, binding: StateBinding): string | Promise<string>;
}

/**
 * How many used states are remembered, each until it expires. Beyond this number the oldest are forgotten, and could
 * be used a second time until they expire.
 */
const rememberedUses = 100_000;

export interface SealedStatesDeps {
  readonly lifetimeMs: number;
  readonly now: () => number;
  /** The first seals, all of them open. */
  readonly keys: () => readonly Buffer[];
  /** Whether no other gateway has opened the state with this id; undefined where none has these keys. */
  readonly claim?: (id: string, untilMs: number) => Promise<boolean> | undefined;
}

export function createSealedStates({ lifetimeMs, now, keys, claim }: SealedStatesDeps): SealedStates {
  const used = new Map<string, number>();

  function digest(payload: string, binding: StateBinding, key = keys()[0] as Buffer): Buffer {
    return createHmac("sha256", key)
      .update(JSON.stringify([payload, binding.principal, createHash("sha256").update(binding.request).digest("hex")]))
      .digest();
  }

  /** What may not be used because the database is away may be used when it is back. */
  async function whenClaimed(nonce: string, state: string, claimed: Promise<boolean>): Promise<string> {
    const isOurs = await claimed.catch((error: unknown) => {
      used.delete(nonce);
      throw error;
    });
    if (!isOurs) throw invalid("it was used before");
    return state;
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
      if (!keys().some((key) => isSame(given, digest(payload, binding, key))))
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
      const claimed = claim?.(n, e);
      return claimed === undefined ? s : whenClaimed(n, s, claimed);
    },
  };
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function invalid(why: string): GatewayError {
  return new GatewayError("HANDLE_INVALID", `the requestState is not accepted: ${why}`);
}
