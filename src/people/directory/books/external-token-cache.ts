import type { Principal } from "../../../kernel/principal.ts";
import { createRowTable } from "../../changes/row-table.ts";
import { createCredentialEnds } from "../credential-expiry.ts";
import type { MemberIndex } from "./member-index.ts";

/** What a token of another authorization server says, once it was checked. */
export interface ForeignToken {
  readonly membershipId: string;
  /** The same for the tokens that an app gets one after the other for one person. */
  readonly key: string;
  readonly scopes: readonly string[];
  readonly audience: string;
  /** Until then it need not be checked again. */
  readonly goodUntilMs: number;
  readonly expiresAtMs: number;
}

/** Tokens of another authorization server that were checked, so that a request is let in without waiting. */
export interface ExternalTokenCache {
  byToken(hash: string, nowMs: number): Principal | undefined;
  /** One that was checked just now. */
  put(hash: string, token: ForeignToken): Principal | undefined;
  /**
   * One that turned out to be good no more. Returns whether it had opened something, which has to end: not while the
   * app has another token for the same, as after a renewal.
   */
  reject(hash: string, nowMs: number): boolean;
  /** Whether it was good when it was last checked, and is not known to have expired. */
  knows(hash: string): boolean;
  isOver(principal: Principal, nowMs: number): boolean;
  /** Forgets what expired, and returns whether streams have to end by it. */
  forget(nowMs: number): boolean;
  nextExpiryMs(): number;
}

/** Tokens in use within five minutes. A forgotten one is checked once more. */
const mostTokens = 10_000;
/** Apps of members that came within a day. The one that came first makes room, and its sessions end. */
const mostKeys = 20_000;
/** So long an app that has not renewed its token is still the same when it does. */
const lapsedMs = 86_400_000;

export function createExternalTokenCache(
  book: Pick<MemberIndex, "members" | "under" | "withdraw">,
): ExternalTokenCache {
  const tokens = createRowTable<ForeignToken & { readonly hash: string }>(({ hash }) => hash);
  const withKey = tokens.grouped(({ key }) => key);
  const keys = new Map<string, { readonly membershipId: string; readonly expiresAtMs: number }>();
  const ends = createCredentialEnds();

  function withdraw(key: string): boolean {
    const held = keys.get(key);
    keys.delete(key);
    ends.drop(key);
    return held !== undefined && book.withdraw(held.membershipId, key);
  }

  function principalOf({ membershipId, key, scopes, audience }: ForeignToken): Principal | undefined {
    const known = book.members.get(membershipId)?.credentials.get(key);
    if (known !== undefined) return known;
    const made = book.under(membershipId, { key, via: "jwt", scopes, audience });
    if (made !== undefined) ends.bind(made, key);
    return made;
  }

  return {
    byToken(hash, nowMs) {
      const token = tokens.rows.get(hash);
      return token === undefined || token.goodUntilMs <= nowMs ? undefined : principalOf(token);
    },
    put(hash, given) {
      const { membershipId, expiresAtMs } = given;
      // An app has several teams of a person, and what ends in one of them goes on in the others.
      const key = `${membershipId} ${given.key}`;
      const token = { ...given, key, hash };
      const principal = principalOf(token);
      if (principal === undefined) return undefined;
      tokens.remove(hash);
      tokens.put(token);
      const [oldest = ""] = tokens.rows.keys();
      if (tokens.rows.size > mostTokens) tokens.remove(oldest);
      const before = keys.get(key)?.expiresAtMs ?? 0;
      keys.delete(key);
      keys.set(key, { membershipId, expiresAtMs: Math.max(before, expiresAtMs) });
      const [oldestKey = ""] = keys.keys();
      if (keys.size > mostKeys) withdraw(oldestKey);
      ends.prolong(key, expiresAtMs);
      return principal;
    },
    reject(hash, nowMs) {
      const token = tokens.remove(hash);
      if (token === undefined) return false;
      const others = withKey.of(token.key).map(({ expiresAtMs }) => expiresAtMs);
      const untilMs = Math.max(0, ...others);
      if (untilMs <= nowMs) return withdraw(token.key);
      ends.drop(token.key);
      ends.prolong(token.key, untilMs);
      return false;
    },
    knows: (hash) => tokens.rows.has(hash),
    isOver: ends.isOver,
    forget(nowMs) {
      for (const [hash, { expiresAtMs }] of tokens.rows) if (expiresAtMs <= nowMs) tokens.remove(hash);
      for (const [key, { expiresAtMs }] of keys) if (expiresAtMs + lapsedMs <= nowMs) withdraw(key);
      return ends.forget(nowMs);
    },
    nextExpiryMs: ends.nextMs,
  };
}
