import type { Clock } from "../../kernel/runtime/clock.ts";
import type { BrowserSessionRow } from "../../store/access-rows.ts";
import type { UserRow } from "../../store/people-rows.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";
import { createSecret, type ChangeAccess } from "./access-changes.ts";

/** A session that was just made, and what goes into its cookie. */
export interface NewSession {
  readonly cookie: string;
  readonly row: BrowserSessionRow;
}

/** People who are logged in with a browser. */
export interface BrowserSessions {
  /** `replaced` is the session that the same browser had before. */
  start(user: UserRow, from: SessionOrigin, replaced: string | undefined): Promise<NewSession>;
  /** The session of this cookie's hash, while it is good. Seeing it keeps it from ending. */
  find(hash: string | undefined): BrowserSessionRow | undefined;
  of(userId: string): readonly BrowserSessionRow[];
  /** Ends those of a user, or one of them. */
  end(
    user: UserRow,
    hashes: readonly string[],
    about: { readonly action: string; readonly ip: string | null },
  ): Promise<void>;
}

export interface SessionOrigin {
  readonly via: string;
  readonly sid: string;
  /** As the session's row has it. */
  readonly browser: string;
  readonly ip: string | null;
  /** When the person proved who they are, if that was not just now. */
  readonly provenAtMs?: number;
}

export interface BrowserSessionsDeps {
  readonly directory: Pick<TeamDirectory, "access">;
  readonly change: ChangeAccess;
  readonly clock: Pick<Clock, "now">;
}

/** In all; sooner when it is not used. */
const longestMs = 7 * 86_400_000;
/** A page that is read again and again does not write every time. */
const seenMs = 10 * 60_000;
/** Of one user: the one that was seen least lately makes room. */
const mostSessions = 20;

export function createBrowserSessions({ directory, change, clock }: BrowserSessionsDeps): BrowserSessions {
  const { access } = directory;

  function sessionsOf(userId: string): BrowserSessionRow[] {
    return access.sessionsOf(userId).filter((row) => access.session(row.hash, clock.now()) !== undefined);
  }

  return {
    async start(user, { via, sid, browser, ip, provenAtMs }, replaced) {
      const { value, hash } = createSecret();
      const now = clock.now();
      const times = { createdAtMs: provenAtMs ?? now, seenAtMs: now, expiresAtMs: now + longestMs };
      const row: BrowserSessionRow = { hash, userId: user.id, role: user.role, via, sid, browser, ...times };
      const oldest = sessionsOf(user.id).toSorted((one, two) => two.seenAtMs - one.seenAtMs);
      const gone = oldest.slice(mostSessions - 1).map((session) => session.hash);
      await change(
        { sessions: [row], goneSessions: replaced === undefined ? gone : [...gone, replaced] },
        { actor: user.name, via: "browser", action: "login", object: user.name, ip, detail: { via } },
      );
      return { cookie: value, row };
    },
    find(hash) {
      const now = clock.now();
      const row = hash === undefined ? undefined : access.session(hash, now);
      if (row !== undefined && row.seenAtMs + seenMs < now)
        // A session that could not be noted ends sooner, and no page waits for that.
        void change({ seenSessions: [{ hash: row.hash, seenAtMs: now }] }).catch(() => undefined);
      return row;
    },
    of: sessionsOf,
    end: async (user, hashes, { action, ip }) =>
      void (await change(
        { goneSessions: hashes },
        { actor: user.name, via: "browser", action, object: user.name, ip, detail: { sessions: hashes.length } },
      )),
  };
}
