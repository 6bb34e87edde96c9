import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { UserRow } from "../../store/people-rows.ts";
import type { ChangeActor } from "../directory/change-queue.ts";
import type { OpenInvite } from "../directory/plans/invite-plans.ts";
import type { PeopleChanges } from "../directory/people-changes.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";
import { checkPassword } from "./accounts.ts";
import { createAttempts, sendersOf } from "./login-attempts.ts";
import type { Passwords } from "./passwords.ts";
import type { BrowserSessions, NewSession, SessionOrigin } from "./user-sessions.ts";

/** Invitations as they are accepted with a browser. Everything rejects with RATE_LIMITED, and as the store does. */
export interface InvitedAccounts {
  /** The offer of an invitation. Throws PERSON_UNKNOWN for a secret that is good for nothing. */
  read(secret: string, ip: string | null): OpenInvite;
  /** Somebody who has an account joins. */
  join(user: UserRow, given: Pick<NewAccount, "secret" | "ip">): Promise<void>;
  /** Makes an account that is in the team, and logs it in. */
  makeAccount(given: NewAccount): Promise<NewSession>;
}

export interface NewAccount extends Pick<SessionOrigin, "ip" | "browser"> {
  readonly secret: string;
  readonly name: string;
  readonly password: string;
  /** The session that the browser had before. */
  readonly replaced: string | undefined;
}

export interface InvitedAccountsDeps {
  readonly changes: (by: ChangeActor) => Pick<PeopleChanges, "acceptInvite" | "readInvite">;
  readonly directory: Pick<TeamDirectory, "book">;
  readonly passwords: Pick<Passwords, "hash">;
  readonly sessions: Pick<BrowserSessions, "start">;
  readonly clock: Pick<Clock, "monotonic">;
}

const windowMs = 15 * 60_000;
/** From one address: 256 bits cannot be guessed, but each guess looks through all invitations. */
const mostLooks = 100;

export function createInvitedAccounts(deps: InvitedAccountsDeps): InvitedAccounts {
  const { changes, directory, passwords, sessions, clock } = deps;
  const looks = createAttempts(clock, mostLooks, windowMs);

  function actor(ip: string | null, user?: UserRow): ChangeActor {
    return { id: user?.name ?? "unknown", via: "browser", ip, user: user?.id ?? null, isAdmin: false };
  }

  function read(secret: string, ip: string | null): OpenInvite {
    const keys = sendersOf(ip);
    looks.check(keys);
    looks.count(keys);
    return changes(actor(ip)).readInvite(secret);
  }

  return {
    read,
    async join(user, { secret, ip }) {
      await changes(actor(ip, user)).acceptInvite({ secret, user: user.id, withToken: false });
    },
    async makeAccount({ secret, name, password, ip, browser, replaced }) {
      checkPassword(password);
      // Before a hash is made, which takes half a second of a thread.
      read(secret, ip);
      const passwordHash = await passwords.hash(password);
      const { userId } = await changes(actor(ip)).acceptInvite({
        ...{ secret, user: null, name, passwordHash, withToken: false },
      });
      const user = directory.book.users.get(userId);
      // Removed in this very moment.
      if (user === undefined) throw new GatewayError("PERSON_UNKNOWN", "there is no such user any more");
      return await sessions.start(user, { via: "password", sid: "", browser, ip }, replaced);
    },
  };
}
