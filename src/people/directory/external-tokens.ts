import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createExternalTokenCache, type ExternalTokenCache, type ForeignToken } from "./books/external-token-cache.ts";
import type { MemberIndex } from "./books/member-index.ts";

/** People who come with a token of another authorization server. */
export interface ExternalTokens extends Pick<ExternalTokenCache, "byToken" | "isOver" | "forget" | "nextExpiryMs"> {
  /**
   * Checks a token that is not known. Any number of requests share one check. Rejects as the check does, and with
   * DIRECTORY_UNAVAILABLE where too many tokens are checked that were never good.
   */
  readonly find: (token: string, hash: string) => Promise<Principal | undefined>;
}

export interface ExternalTokensDeps {
  readonly book: Pick<MemberIndex, "members" | "under" | "withdraw">;
  readonly check: (token: string, signal: AbortSignal) => Promise<ForeignToken | undefined>;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Told when a token came in, with the time at which it expires. */
  readonly onToken: (expiresAtMs: number) => void;
  /** Told when something was taken from somebody. */
  readonly onTaken: () => void;
}

/** As long as a request waits for it. */
const deadlineMs = 10_000;
/** What every token of this gateway's own begins with. No other server is told one, also of those that were revoked. */
const ownPrefix = "ty_";
/** Anybody can make tokens up: checking so many at a time leaves the other server, and us, room for good ones. */
const mostUnknown = 64;
/** Requests that wait for those checks: half of what may wait at all, so that tokens that were good get in beside. */
const mostWaiting = 500;

export function createExternalTokens({ book, check, clock, onToken, onTaken }: ExternalTokensDeps): ExternalTokens {
  const held = createExternalTokenCache(book);
  const refused = createRefusals(clock);
  const checking = new Map<string, Promise<Principal | undefined>>();
  let unknown = 0;
  let waiting = 0;

  async function checkOne(token: string, hash: string): Promise<Principal | undefined> {
    const found = await check(token, AbortSignal.timeout(deadlineMs));
    if (found === undefined) {
      refused.add(hash);
      if (held.reject(hash, clock.now())) onTaken();
      return undefined;
    }
    onToken(found.expiresAtMs);
    return held.put(hash, found);
  }

  /** One check for all who ask meanwhile. */
  async function share(token: string, hash: string): Promise<Principal | undefined> {
    let running = checking.get(hash);
    if (running === undefined) {
      running = checkOne(token, hash).finally(() => checking.delete(hash));
      checking.set(hash, running);
    }
    return await running;
  }

  async function findUnknown(token: string, hash: string): Promise<Principal | undefined> {
    const isFirst = !checking.has(hash);
    if (waiting >= mostWaiting || (isFirst && unknown >= mostUnknown))
      throw new GatewayError("DIRECTORY_UNAVAILABLE", "too many tokens that are not known are being checked", {
        hint: "Try again in a moment.",
      });
    waiting += 1;
    if (isFirst) unknown += 1;
    try {
      return await share(token, hash);
    } finally {
      waiting -= 1;
      if (isFirst) unknown -= 1;
    }
  }

  return {
    ...held,
    async find(token, hash) {
      if (token.startsWith(ownPrefix)) return undefined;
      const known = held.byToken(hash, clock.now());
      if (known !== undefined) return known;
      if (refused.has(hash)) return undefined;
      return held.knows(hash) ? await share(token, hash) : await findUnknown(token, hash);
    },
  };
}

/** Long enough for a client that tries again and again, and short enough for somebody who is let in meanwhile. */
const refusedMs = 2_000;
/** Those that are forgotten sooner are checked once more. */
const mostRefused = 1_000;

/** Tokens that turned out to be worth nothing a moment ago. */
function createRefusals({ monotonic }: Pick<Clock, "monotonic">) {
  const untilMs = new Map<string, number>();
  return {
    has: (hash: string) => (untilMs.get(hash) ?? 0) > monotonic(),
    add(hash: string): void {
      untilMs.delete(hash);
      untilMs.set(hash, monotonic() + refusedMs);
      const [oldest] = untilMs.size > mostRefused ? untilMs.keys() : [];
      if (oldest !== undefined) untilMs.delete(oldest);
    },
  };
}
