import type { Principal } from "../../../kernel/principal.ts";
import type { AccessRows, AccessWrites, BrowserSessionRow, GrantRow } from "../../../store/access-rows.ts";
import { createCredentialEnds, type CredentialEnds } from "../credential-expiry.ts";
import type { MemberIndex } from "./member-index.ts";

/** What was given out for one consent, and is still good. */
export interface HeldGrant {
  row: GrantRow;
  /** Hashes of its access tokens. */
  readonly tokens: Set<string>;
}

/** Somebody who is logged in with a browser. */
export interface HeldSession {
  row: BrowserSessionRow;
}

/** Apps and browsers that people are logged in with, in memory, so that a request is checked without waiting. */
export interface AccessIndex {
  readonly grants: ReadonlyMap<string, HeldGrant>;
  readonly sessions: ReadonlyMap<string, HeldSession>;
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
  readonly grant: HeldGrant;
  /** Of the principal: tokens of one grant with the same limits are one. */
  readonly key: string;
  readonly scopes: readonly string[];
  readonly audience: string;
  readonly expiresAtMs: number;
}

/** Without a request for this long, a session of a browser ends. */
export const idleSessionMs = 12 * 3_600_000;

export function createAccessIndex(book: Book): AccessIndex {
  const shelf = createShelf(book);
  const { grants, sessions, tokens, ends, forgetExpired, nextExpiryMs } = shelf;

  function session(hash: string, nowMs: number): BrowserSessionRow | undefined {
    const row = sessions.get(hash)?.row;
    if (row === undefined || row.expiresAtMs <= nowMs || row.seenAtMs + idleSessionMs <= nowMs) return undefined;
    const user = book.users.get(row.userId);
    return user?.status === "active" && user.role === row.role ? row : undefined;
  }

  return {
    grants,
    sessions,
    byToken(hash, nowMs) {
      const token = tokens.get(hash);
      if (token === undefined || token.expiresAtMs <= nowMs) return undefined;
      const { grant, key, scopes, audience } = token;
      const { membershipId } = grant.row;
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
      let isTaken = false;
      for (const hash of goneSessions) isTaken = shelf.removeSession(hash) || isTaken;
      for (const id of goneGrants) isTaken = shelf.removeGrant(id) || isTaken;
      for (const { kind, hash } of goneItems) if (kind === "AccessToken") shelf.removeToken(hash);
      shelf.putAll(writes);
      return isTaken;
    },
    differenceTo: ({ sessions: keptSessions, grants: keptGrants, tokens: keptTokens }) => ({
      ...{ sessions: keptSessions, grants: keptGrants, items: keptTokens },
      goneSessions: missing(
        sessions,
        keptSessions.map(({ hash }) => hash),
      ),
      goneGrants: missing(
        grants,
        keptGrants.map(({ id }) => id),
      ),
      goneItems: missing(
        tokens,
        keptTokens.map(({ hash }) => hash),
      ).map((hash) => ({ kind: "AccessToken", hash })),
    }),
    forgetExpired,
    ends,
    nextExpiryMs,
  };
}

function missing(known: ReadonlyMap<string, unknown>, kept: readonly string[]): string[] {
  const there = new Set(kept);
  return [...known.keys()].filter((key) => !there.has(key));
}

type Book = Pick<MemberIndex, "members" | "users" | "membersOf" | "under" | "withdraw">;

/** The rows, by what they are looked up with, and how they go. */
function createShelf(book: Book) {
  const grants = new Map<string, HeldGrant>();
  const sessions = new Map<string, HeldSession>();
  const tokens = new Map<string, HeldToken>();
  const ends = createCredentialEnds();

  function removeToken(hash: string): void {
    tokens.get(hash)?.grant.tokens.delete(hash);
    tokens.delete(hash);
  }

  function removeGrant(id: string): boolean {
    const held = grants.get(id);
    if (held === undefined) return false;
    for (const hash of [...held.tokens]) removeToken(hash);
    grants.delete(id);
    // Its tokens may have been removed before it.
    const keys = [...(book.members.get(held.row.membershipId)?.credentials.keys() ?? [])];
    for (const key of keys.filter((one) => one.startsWith(`${id} `))) {
      ends.drop(key);
      book.withdraw(held.row.membershipId, key);
    }
    return true;
  }

  function removeSession(hash: string): boolean {
    const held = sessions.get(hash);
    if (held === undefined) return false;
    sessions.delete(hash);
    for (const { row } of book.membersOf(held.row.userId)) book.withdraw(row.id, hash);
    return true;
  }

  function putAll(writes: AccessWrites & Partial<AccessRows>): void {
    for (const row of writes.sessions ?? []) {
      const held = sessions.get(row.hash);
      if (held === undefined) sessions.set(row.hash, { row });
      else held.row = row;
    }
    for (const row of writes.grants ?? []) {
      const held = grants.get(row.id);
      if (held === undefined) grants.set(row.id, { row, tokens: new Set() });
      else held.row = row;
    }
    for (const { hash, seenAtMs } of writes.seenSessions ?? []) {
      const held = sessions.get(hash);
      if (held !== undefined) held.row = { ...held.row, seenAtMs };
    }
    for (const { id, usedAtMs } of writes.usedGrants ?? []) {
      const held = grants.get(id);
      if (held !== undefined) held.row = { ...held.row, usedAtMs };
    }
    for (const row of [...(writes.items ?? []), ...(writes.tokens ?? [])]) {
      const grant = row.kind === "AccessToken" && row.grantId !== null ? grants.get(row.grantId) : undefined;
      if (grant === undefined) continue;
      const { audience, expiresAtMs } = { ...row, audience: row.audience ?? "" };
      const scopes = row.scopes?.split(" ") ?? [];
      const key = `${grant.row.id} ${audience} ${row.scopes ?? ""}`;
      grant.tokens.add(row.hash);
      ends.prolong(key, expiresAtMs);
      tokens.set(row.hash, { grant, key, scopes, audience, expiresAtMs });
    }
  }

  function forgetExpired(nowMs: number): boolean {
    let isTaken = false;
    for (const [hash, { expiresAtMs }] of tokens) if (expiresAtMs <= nowMs) removeToken(hash);
    for (const [id, { row }] of grants)
      if (row.expiresAtMs <= nowMs || !book.members.has(row.membershipId)) isTaken = removeGrant(id) || isTaken;
    for (const [hash, { row }] of sessions)
      if (row.expiresAtMs <= nowMs || row.seenAtMs + idleSessionMs <= nowMs || !book.users.has(row.userId))
        isTaken = removeSession(hash) || isTaken;
    return isTaken;
  }

  const removals = { removeToken, removeGrant, removeSession };
  const nextExpiryMs = (): number => nextExpiryOf({ ends, grants, sessions });
  return { grants, sessions, tokens, ends, ...removals, putAll, forgetExpired, nextExpiryMs };
}

interface Expiring {
  readonly ends: CredentialEnds;
  readonly grants: ReadonlyMap<string, HeldGrant>;
  readonly sessions: ReadonlyMap<string, HeldSession>;
}

/** When the next of these ends: tokens end with their keys. */
function nextExpiryOf({ ends, grants, sessions }: Expiring): number {
  let next = ends.nextMs();
  for (const { row } of grants.values()) next = Math.min(next, row.expiresAtMs);
  for (const { row } of sessions.values()) next = Math.min(next, row.expiresAtMs, row.seenAtMs + idleSessionMs);
  return next;
}
