import type { Principal } from "../../../kernel/principal.ts";
import type { AccessRows, AccessWrites, BrowserSessionRow, GrantRow } from "../../../store/access-rows.ts";
import { createRowTable } from "../../changes/row-table.ts";
import { createCredentialEnds, type CredentialEnds } from "../credential-expiry.ts";
import type { MemberIndex } from "./member-index.ts";

/** Apps and browsers that people are logged in with, in memory, so that a request is checked without waiting. */
export interface AccessIndex {
  /** What was given out for one consent, and is still good. */
  readonly grants: ReadonlyMap<string, GrantRow>;
  /** Who is logged in with a browser. */
  readonly sessions: ReadonlyMap<string, BrowserSessionRow>;
  grantsOf(membershipId: string): readonly GrantRow[];
  sessionsOf(userId: string): readonly BrowserSessionRow[];
  /** Whose access token it is. One object for each grant: a renewed token ends nothing that the one before opened. */
  byToken(hash: string, nowMs: number): Principal | undefined;
  /** A session that may still be used. */
  session(hash: string, nowMs: number): BrowserSessionRow | undefined;
  /** Who comes with a session in the team with this slug; without one, in the first that the person is in. */
  bySession(hash: string, team: string | undefined, nowMs: number): Principal | undefined;
  /** Returns whether something was taken from somebody. */
  apply(writes: AccessWrites | AccessRows): boolean;
  /** What has to be applied to become `rows`. */
  differenceTo(rows: AccessRows): AccessWrites;
  /** Forgets what expired, and returns whether something was taken from somebody by it. */
  forgetExpired(nowMs: number): boolean;
  /** When access tokens of apps end, until the app has renewed them. */
  readonly ends: Pick<CredentialEnds, "isOver" | "forget">;
  /** When something expires next; Infinity where nothing does. */
  nextExpiryMs(): number;
}

interface HeldToken {
  readonly hash: string;
  readonly grantId: string;
  readonly membershipId: string;
  /** Of the principal: tokens of one grant with the same limits are one. */
  readonly key: string;
  readonly scopes: readonly string[];
  readonly audience: string;
  readonly expiresAtMs: number;
}

/** Without a request for this long, a session of a browser ends. */
export const idleSessionMs = 12 * 3_600_000;

type Book = Pick<MemberIndex, "members" | "users" | "membersOf" | "under" | "withdraw">;

export function createAccessIndex(book: Book): AccessIndex {
  const held = createHeldAccess(book);
  const { grants, sessions, tokens, ends, forgetExpired, nextExpiryMs } = held;

  function session(hash: string, nowMs: number): BrowserSessionRow | undefined {
    const row = sessions.rows.get(hash);
    if (row === undefined || row.expiresAtMs <= nowMs || row.seenAtMs + idleSessionMs <= nowMs) return undefined;
    const user = book.users.get(row.userId);
    return user?.status === "active" && user.role === row.role ? row : undefined;
  }

  return {
    grants: grants.rows,
    sessions: sessions.rows,
    grantsOf: held.grantsOf,
    sessionsOf: held.sessionsOf,
    byToken(hash, nowMs) {
      const token = tokens.rows.get(hash);
      if (token === undefined || token.expiresAtMs <= nowMs) return undefined;
      const { membershipId, key, scopes, audience } = token;
      const known = book.members.get(membershipId)?.credentials.get(key);
      if (known !== undefined) return known;
      const made = book.under(membershipId, { key, via: "grant", scopes, audience });
      if (made !== undefined) ends.bind(made, key);
      return made;
    },
    session,
    bySession(hash, team, nowMs) {
      const row = session(hash, nowMs);
      if (row === undefined) return undefined;
      const theirs = book.membersOf(row.userId).toSorted((one, two) => (one.team.slug < two.team.slug ? -1 : 1));
      const member = team === undefined ? theirs[0] : theirs.find((one) => one.team.slug === team);
      return member === undefined ? undefined : book.under(member.row.id, { key: hash, via: "session", scopes: [] });
    },
    apply(writes) {
      const { goneSessions = [], goneGrants = [], goneItems = [] } = writes as AccessWrites;
      const taken = [...goneSessions.map(held.removeSession), ...goneGrants.map(held.removeGrant)];
      for (const { kind, hash } of goneItems) if (kind === "AccessToken") tokens.remove(hash);
      held.putAll(writes);
      return taken.includes(true);
    },
    differenceTo: (kept) => ({
      ...{ sessions: kept.sessions, grants: kept.grants, items: kept.tokens },
      goneSessions: sessions.missing(kept.sessions.map(toHash)),
      goneGrants: grants.missing(kept.grants.map(({ id }) => id)),
      goneItems: tokens.missing(kept.tokens.map(toHash)).map((hash) => ({ kind: "AccessToken", hash })),
    }),
    forgetExpired,
    ends,
    nextExpiryMs,
  };
}

function toHash({ hash }: { readonly hash: string }): string {
  return hash;
}

/** The rows, and how they go. */
function createHeldAccess(book: Book) {
  const grants = createRowTable<GrantRow>(({ id }) => id);
  const grantsOf = grants.grouped(({ membershipId }) => membershipId).of;
  const sessions = createRowTable<BrowserSessionRow>(toHash);
  const sessionsOf = sessions.grouped(({ userId }) => userId).of;
  const tokens = createRowTable<HeldToken>(toHash);
  const tokensOf = tokens.grouped(({ grantId }) => grantId).of;
  const ends = createCredentialEnds();

  function removeGrant(id: string): boolean {
    for (const { hash } of tokensOf(id)) tokens.remove(hash);
    const row = grants.remove(id);
    if (row === undefined) return false;
    // Its tokens may have been removed before it.
    const keys = [...(book.members.get(row.membershipId)?.credentials.keys() ?? [])];
    for (const key of keys.filter((one) => one.startsWith(`${id} `))) {
      ends.drop(key);
      book.withdraw(row.membershipId, key);
    }
    return true;
  }

  function removeSession(hash: string): boolean {
    const row = sessions.remove(hash);
    if (row === undefined) return false;
    for (const member of book.membersOf(row.userId)) book.withdraw(member.row.id, hash);
    return true;
  }

  function putAll(writes: AccessWrites & Partial<AccessRows>): void {
    for (const row of writes.sessions ?? []) sessions.put(row);
    for (const row of writes.grants ?? []) grants.put(row);
    for (const { hash, seenAtMs } of writes.seenSessions ?? []) {
      const row = sessions.rows.get(hash);
      if (row !== undefined) sessions.put({ ...row, seenAtMs });
    }
    for (const { id, usedAtMs } of writes.usedGrants ?? []) {
      const row = grants.rows.get(id);
      if (row !== undefined) grants.put({ ...row, usedAtMs });
    }
    for (const row of [...(writes.items ?? []), ...(writes.tokens ?? [])]) {
      const grant = row.kind === "AccessToken" ? grants.rows.get(row.grantId ?? "") : undefined;
      if (grant === undefined) continue;
      const { hash, expiresAtMs } = row;
      const audience = row.audience ?? "";
      const key = `${grant.id} ${audience} ${row.scopes ?? ""}`;
      ends.prolong(key, expiresAtMs);
      const limits = { scopes: row.scopes?.split(" ") ?? [], audience };
      tokens.put({ hash, grantId: grant.id, membershipId: grant.membershipId, key, ...limits, expiresAtMs });
    }
  }

  function forgetExpired(nowMs: number): boolean {
    for (const [hash, { expiresAtMs }] of tokens.rows) if (expiresAtMs <= nowMs) tokens.remove(hash);
    let isTaken = false;
    for (const [id, row] of grants.rows)
      if (row.expiresAtMs <= nowMs || !book.members.has(row.membershipId)) isTaken = removeGrant(id) || isTaken;
    for (const [hash, row] of sessions.rows)
      if (row.expiresAtMs <= nowMs || row.seenAtMs + idleSessionMs <= nowMs || !book.users.has(row.userId))
        isTaken = removeSession(hash) || isTaken;
    return isTaken;
  }

  /** What {@link forgetExpired} would end: tokens end with their keys. */
  function nextExpiryMs(): number {
    let next = ends.nextMs();
    for (const row of grants.rows.values()) next = Math.min(next, row.expiresAtMs);
    for (const row of sessions.rows.values()) next = Math.min(next, row.expiresAtMs, row.seenAtMs + idleSessionMs);
    return next;
  }

  const tables = { grants, grantsOf, sessions, sessionsOf, tokens, ends };
  return { ...tables, removeGrant, removeSession, putAll, forgetExpired, nextExpiryMs };
}
