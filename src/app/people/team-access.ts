import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { followOthers } from "../../people/changes/change-writer.ts";
import {
  createAccessChanges,
  type Change,
  type ChangeAccess,
} from "../../people/authorization-server/access-changes.ts";
import { createAccounts, type Accounts } from "../../people/authorization-server/accounts.ts";
import { createBrowserSessions, type BrowserSessions } from "../../people/authorization-server/user-sessions.ts";
import {
  createRegisteredClients,
  type RegisteredClients,
} from "../../people/authorization-server/registered-clients.ts";
import { createSealing } from "../../people/authorization-server/oauth/sealed-rows.ts";
import { createUserAccess, type UserAccess } from "../../people/authorization-server/user-access.ts";
import { createPasswords, type Passwords } from "../../people/authorization-server/passwords.ts";
import type { ChangeActor } from "../../people/directory/change-queue.ts";
import type { PeopleChanges } from "../../people/directory/people-changes.ts";
import type { TeamDirectory, TeamDirectoryOptions } from "../../people/directory/team-directory.ts";
import type { AccessStore } from "../../store/access-store.ts";
import type { GatewayAudit } from "../records/audit-wing.ts";

/** How the people of the database get in. */
export interface TeamAccess {
  readonly store: AccessStore;
  readonly change: ChangeAccess;
  readonly accounts: Accounts;
  readonly sessions: BrowserSessions;
  /** Writes a login that was refused into the audit. */
  readonly deny: (change: Change) => void;
  readonly passwords: Passwords;
  /** Apps and browsers of people. */
  readonly users: UserAccess;
  /** Apps that are registered. */
  readonly clients: RegisteredClients;
  stop(): void;
}

export interface TeamAccessDeps {
  readonly store: AccessStore;
  readonly directory: TeamDirectory;
  /** For people that come into being by logging in. */
  readonly apply: TeamDirectory["apply"];
  readonly clock: Clock;
  readonly isName: (text: string) => boolean;
  readonly deny: GatewayAudit["deny"];
  readonly log: Log;
}

/** What expired takes room, and nothing else. */
const purgeMs = 10 * 60_000;

/** Reads who is logged in. Rejects with STORE_UNAVAILABLE where that cannot be read. */
export async function openTeamAccess(deps: TeamAccessDeps): Promise<TeamAccess> {
  const { store, directory, apply, clock, isName, log } = deps;
  // Before it is read, so that changes made meanwhile are told.
  const stopListening = followOthers({
    ...{ store, clock, apply: directory.applyAccess },
    readAll: async () => directory.applyAccess(directory.access.differenceTo(await store.read(clock.now()))),
    onFailed: (error) =>
      log.warn(
        { component: "people", err: error },
        "who logged in at another gateway cannot be read: it is tried again",
      ),
  });
  directory.applyAccess(await store.read(clock.now()));

  function purge(): void {
    store
      .purgeAccess(clock.now())
      .catch((error: unknown) => log.warn({ component: "people", err: error }, "what expired is not removed"));
    cancel = clock.after(purgeMs, purge);
  }
  let cancel = clock.after(purgeMs, purge);

  const change = createAccessChanges({ store, directory: { apply, applyAccess: directory.applyAccess }, clock });
  const sessions = createBrowserSessions({ directory, change, clock });
  const passwords = createPasswords();
  const deny = ({ detail = {}, team = null, ...facts }: Change): void => deps.deny({ ...facts, team, detail });
  const accounts = createAccounts({
    ...{ directory, store, change, sessions, passwords, clock, isName },
    onDenied: deny,
  });
  const users = createUserAccess({ directory, sessions, change, store, clock });
  const clients = createRegisteredClients({ store, change, directory, sealing: createSealing(store.key), clock });
  return {
    ...{ store, change, accounts, sessions, passwords, deny, users, clients },
    stop() {
      cancel();
      stopListening();
    },
  };
}

/** Of made-up tokens, which anybody can send: those beyond are refused, and nothing else has to wait for them. */
const mostFetches = 8;

/**
 * An app that was given a token by one gateway uses it at another before that has heard of it. Undefined where there
 * is one gateway alone.
 */
export function toFetchToken(store: AccessStore): TeamDirectoryOptions["fetchToken"] {
  if (!store.isShared) return undefined;
  let fetching = 0;
  return async (hash) => {
    if (fetching >= mostFetches) return undefined;
    fetching += 1;
    try {
      const item = await store.oauthItem({ kind: "AccessToken", hash });
      if (item === undefined || item.grantId === null) return undefined;
      const grant = await store.grant(item.grantId);
      return grant && { grants: [grant], items: [item] };
    } finally {
      fetching -= 1;
    }
  };
}

type MakeChanges = (by: ChangeActor) => PeopleChanges;

/** A person who is reset loses their logins at servers, too. */
export function alsoLoggingOut(
  make: MakeChanges,
  directory: TeamDirectory,
  { change: changeAccess, store }: Pick<TeamAccess, "change" | "store">,
): MakeChanges {
  const { book, access } = directory;

  /** Apps, browsers, and accounts elsewhere that a user was not made by. */
  async function endLogins(name: string, by: ChangeActor): Promise<void> {
    const user = book.userNamed(name) ?? book.users.get(name);
    if (user === undefined) return;
    const grants = book.membersOf(user.id).flatMap(({ row }) => access.grantsOf(row.id));
    const sessions = access.sessionsOf(user.id);
    // Those that were linked later: somebody else may have done that. The one that made the user is what the provider
    // would let in as this user again, and often the only way in.
    const goneIdentities = (await store.identities(user.id)).filter(
      ({ createdAtMs }) => createdAtMs !== user.createdAtMs,
    );
    const detail = { apps: grants.length, sessions: sessions.length, accounts: goneIdentities.length };
    const goneSessions = sessions.map(({ hash }) => hash);
    await changeAccess(
      { goneGrants: grants.map(({ id }) => id), goneSessions, goneIdentities },
      { actor: by.id, via: by.via, action: "user.logins.end", object: user.name, ip: by.ip, detail },
    );
  }

  return (by) => {
    const plain = make(by);
    return {
      ...plain,
      async resetUser(user) {
        const tokens = await plain.resetUser(user);
        await endLogins(user, by);
        return tokens;
      },
    };
  };
}
