import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { randomId } from "../../kernel/text/random-id.ts";
import type { BrowserSessionRecord, BrowserSessionStore, ListChange } from "../../store/store.ts";

/** What a browser is given once: both are needed with every request, and only their hashes are kept. */
export interface BrowserLogin {
  /** In a cookie that no script can read. Cookies ignore ports: other servers of this machine are sent it, too. */
  readonly cookie: string;
  /** In a header. The page keeps it where only pages of this very origin can read it. */
  readonly key: string;
  readonly session: BrowserSession;
}

/** A browser that is logged in. */
export interface BrowserSession {
  readonly id: string;
  /** Who it is: the owner of the data directory, or the owner of a token with this hash. */
  readonly tokenHash: string | null;
  /** As the browser names itself; untrusted. */
  readonly browser: string;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
  /** When it ends, unless it is used before. */
  readonly endsAtMs: number;
}

/** The owner of a token with this hash; both are null for the owner of the data directory. */
export interface LoggingIn {
  readonly tokenHash: string | null;
  /** The same with every token of a person. */
  readonly person: string | null;
}

export interface BrowserSessions {
  /**
   * Logs somebody in. The caller has checked the code, or the token. Of more than ten of the same person the oldest
   * ends. Rejects with BROWSER_LIMIT where all people together have too many.
   */
  start(who: LoggingIn, browser: string): Promise<BrowserLogin>;
  /** Undefined unless both belong to one session that has not ended. */
  find(cookie: string, key: string): BrowserSession | undefined;
  /** Newest first. */
  list(): readonly BrowserSession[];
  /** Resolves to whether there was one. */
  end(id: string): Promise<boolean>;
}

export interface BrowserSessionsDeps {
  readonly store: BrowserSessionStore;
  readonly clock: Pick<Clock, "now">;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** A session ends when it was not used for as long as a night, and in any case after a week. */
const idleMs = 12 * hourMs;
const longestMs = 7 * 24 * hourMs;
/** How late the file may know that a session was used. */
const noteMs = 10 * minuteMs;
/**
 * More browsers than a person has. Beyond it their oldest is logged out, and no other person's. Tokens do not count
 * each for itself: somebody with ten of them would take all the places that there are.
 */
const mostOfOne = 10;
/** With tokens: the file stays small. The owner's do not count, so that no member keeps the owner out. */
const mostSessions = 100;
const longestBrowser = 200;

/** Logins of browsers. They outlive the process; one-time codes do not. */
export function createBrowserSessions({ store, clock }: BrowserSessionsDeps): BrowserSessions {
  const sessions = new Map(store.read().map((record) => [record.keyHash, record]));
  let writing: Promise<void> = Promise.resolve();

  // What other gateways of the same database did.
  store.onChange?.(() => {
    const before = new Map(sessions);
    sessions.clear();
    for (const record of store.read()) {
      const usedAtMs = Math.max(record.usedAtMs, before.get(record.keyHash)?.usedAtMs ?? 0);
      sessions.set(record.keyHash, { ...record, usedAtMs });
    }
  });

  /** Writes one after the other, so that an older state never replaces a newer one. */
  async function save(change: ListChange<BrowserSessionRecord>): Promise<void> {
    const next = writing.catch(() => undefined).then(async () => await store.write([...sessions.values()], change));
    writing = next;
    await next;
    if (store.onChange === undefined) return;
    // What was read meanwhile, because another gateway changed something, may be older than this.
    for (const record of change.added ?? []) sessions.set(record.keyHash, sessions.get(record.keyHash) ?? record);
    for (const { keyHash } of change.removed ?? []) sessions.delete(keyHash);
  }

  function endOld(): void {
    const now = clock.now();
    for (const [hash, record] of sessions) if (endOf(record) <= now) sessions.delete(hash);
  }

  /** Throws BROWSER_LIMIT. */
  function makeRoom(who: LoggingIn): void {
    const own = [...sessions.values()].filter((record) => ownerOf(record) === ownerOf(who));
    for (const { keyHash } of own.slice(0, Math.max(0, own.length - mostOfOne + 1))) sessions.delete(keyHash);
    const all = [...sessions.values()].filter((record) => record.tokenHash !== null);
    if (who.tokenHash !== null && all.length >= mostSessions)
      throw new GatewayError("BROWSER_LIMIT", `${all.length} browsers are logged in with tokens`);
  }

  async function start(who: LoggingIn, browser: string): Promise<BrowserLogin> {
    const before = [...sessions.values()];
    endOld();
    makeRoom(who);
    const removed = before.filter(({ keyHash }) => !sessions.has(keyHash));
    const [cookie, key] = [newSecret(), newSecret()];
    const now = clock.now();
    const record: BrowserSessionRecord = {
      id: randomId(""),
      cookieHash: hashOf(cookie),
      keyHash: hashOf(key),
      tokenHash: who.tokenHash,
      person: who.person,
      browser: browser.slice(0, longestBrowser),
      createdAtMs: now,
      usedAtMs: now,
    };
    sessions.set(record.keyHash, record);
    await save({ added: [record], removed });
    return { cookie, key, session: toSession(record) };
  }

  function note(record: BrowserSessionRecord): BrowserSessionRecord {
    const now = clock.now();
    if (now - record.usedAtMs < minuteMs) return record;
    const used = { ...record, usedAtMs: now };
    sessions.set(record.keyHash, used);
    // If it cannot be written, the session ends earlier after a restart.
    if (now - record.usedAtMs >= noteMs) void save({ changed: [used] }).catch(() => undefined);
    return used;
  }

  return {
    start,
    find(cookie, key) {
      const record = sessions.get(hashOf(key));
      if (record === undefined || record.cookieHash !== hashOf(cookie)) return undefined;
      if (endOf(record) <= clock.now()) return undefined;
      return toSession(note(record));
    },
    list() {
      endOld();
      return [...sessions.values()].map(toSession).toReversed();
    },
    async end(id) {
      const found = [...sessions.values()].find((record) => record.id === id);
      if (found === undefined) return false;
      sessions.delete(found.keyHash);
      await save({ removed: [found] });
      return true;
    },
  };
}

/** Sessions that an earlier version wrote say nothing of the person: these count by their token. */
function ownerOf({ tokenHash, person }: LoggingIn): string | null {
  return person ?? tokenHash;
}

function endOf({ createdAtMs, usedAtMs }: BrowserSessionRecord): number {
  return Math.min(usedAtMs + idleMs, createdAtMs + longestMs);
}

function toSession(record: BrowserSessionRecord): BrowserSession {
  const { id, tokenHash, browser, createdAtMs, usedAtMs } = record;
  return { id, tokenHash, browser, createdAtMs, usedAtMs, endsAtMs: endOf(record) };
}

/** 256 bits: looking a hash up needs no constant time, because no guess comes near to one. */
function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
