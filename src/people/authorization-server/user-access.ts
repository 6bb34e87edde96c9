import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { AccessStore } from "../../store/access-store.ts";
import type { GrantRow } from "../../store/access-rows.ts";
import type { ChangeActor } from "../directory/change-queue.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";
import type { ChangeAccess } from "./access-changes.ts";
import type { BrowserSessions } from "./user-sessions.ts";

/** An app that acts for somebody in one team. */
export interface AppLine extends Pick<GrantRow, "id" | "clientId" | "createdAtMs" | "usedAtMs" | "expiresAtMs"> {
  /** As it names itself; untrusted. */
  readonly name: string;
  readonly user: string;
  readonly team: string;
  readonly scopes: readonly string[];
  /** URLs of what it may use. */
  readonly audience: readonly string[];
}

/** A browser that somebody is logged in with. */
export interface SessionLine {
  /** The beginning of a hash: it finds nothing in the database. */
  readonly id: string;
  readonly user: string;
  /** `password`, or the identity provider. */
  readonly via: string;
  /** What it says of itself; empty where that is not known. */
  readonly browser: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  readonly expiresAtMs: number;
}

/** What people are logged in with: apps and browsers. Ids are looked for among those of `userId` alone. */
export interface UserAccess {
  /** Undefined: everybody's. */
  appsOf(userId: string | undefined): readonly AppLine[];
  sessionsOf(userId: string | undefined): readonly SessionLine[];
  /** In force when it resolves. Rejects with PERSON_UNKNOWN for an app that is not theirs. */
  revokeApp(by: ChangeActor, id: string, userId?: string): Promise<void>;
  /** The same for a browser. */
  endSession(by: ChangeActor, id: string, userId?: string): Promise<void>;
  /** Logs a user out of every browser. Resolves to how many there were. */
  endSessions(by: ChangeActor, userId: string): Promise<number>;
  /**
   * From then on, a sender with a token or an assertion of this account elsewhere is the user. Rejects with
   * PEOPLE_CONFLICT where the account is another user's.
   */
  linkAccount(by: ChangeActor, userId: string, account: AccountElsewhere): Promise<void>;
}

export interface AccountElsewhere {
  readonly issuer: string;
  readonly subject: string;
}

export interface UserAccessDeps {
  readonly directory: Pick<TeamDirectory, "book" | "access">;
  readonly sessions: Pick<BrowserSessions, "of">;
  readonly change: ChangeAccess;
  readonly store: Pick<AccessStore, "identity">;
  readonly clock: Pick<Clock, "now">;
}

const idLength = 16;

/** What a session is called where people see it. */
export function sessionIdOf({ hash }: { readonly hash: string }): string {
  return hash.slice(0, idLength);
}

export function createUserAccess({ directory, sessions, change, store, clock }: UserAccessDeps): UserAccess {
  const { book, access } = directory;

  function appsOf(userId: string | undefined): readonly AppLine[] {
    const members = userId === undefined ? [...book.members.values()] : book.membersOf(userId);
    return members.flatMap(({ row: { id: membership }, user, team }) =>
      access.grantsOf(membership).map((row) => {
        const { id, clientId, clientName: name, createdAtMs, usedAtMs, expiresAtMs } = row;
        const limits = { scopes: words(row.scopes), audience: words(row.audience) };
        const times = { createdAtMs, usedAtMs, expiresAtMs };
        return { id, clientId, name, user: user.name, team: team.slug, ...limits, ...times };
      }),
    );
  }

  function rowsOf(userId: string | undefined) {
    const users = userId === undefined ? [...book.users.keys()] : [userId];
    return users.flatMap((id) => sessions.of(id).map((row) => ({ row, user: book.users.get(id)?.name ?? "" })));
  }

  return {
    appsOf,
    sessionsOf: (userId) =>
      rowsOf(userId).map(({ row: { hash, via, browser, createdAtMs, seenAtMs, expiresAtMs }, user }) => ({
        ...{ id: sessionIdOf({ hash }), user, via, browser, createdAtMs, seenAtMs, expiresAtMs },
      })),
    async revokeApp({ id: actor, via, ip }, id, userId) {
      const app = appsOf(userId).find((one) => one.id === id);
      if (app === undefined) throw new GatewayError("PERSON_UNKNOWN", "there is no such app", { hint: "" });
      const detail = { grant: id, user: app.user };
      await change(
        { goneGrants: [id] },
        { actor, via, ip, action: "app.revoke", object: app.name, team: app.team, detail },
      );
    },
    async endSession({ id: actor, via, ip }, id, userId) {
      const found = rowsOf(userId).filter(({ row }) => sessionIdOf(row) === id);
      const [only] = found;
      if (only === undefined || found.length > 1)
        throw new GatewayError("PERSON_UNKNOWN", "there is no such browser", { hint: "" });
      await change({ goneSessions: [only.row.hash] }, { actor, via, ip, action: "session.end", object: only.user });
    },
    async endSessions({ id: actor, via, ip }, userId) {
      const rows = rowsOf(userId);
      const object = book.users.get(userId)?.name ?? "";
      const about = { actor, via, ip, action: "session.end", object, detail: { sessions: rows.length } };
      await change({ goneSessions: rows.map(({ row }) => row.hash) }, about);
      return rows.length;
    },
    async linkAccount({ id: actor, via, ip }, userId, account) {
      const known = await store.identity(account);
      if (known !== undefined && known.userId !== userId && book.users.has(known.userId ?? ""))
        throw new GatewayError("PEOPLE_CONFLICT", "this account is already another user's");
      const now = clock.now();
      const times = { createdAtMs: now, seenAtMs: now };
      const object = book.users.get(userId)?.name ?? "";
      await change(
        {},
        { ...{ actor, via, ip, action: "identity.link", object }, detail: { ...account } },
        { identities: [{ ...account, userId, label: account.subject, ...times }] },
      );
    },
  };
}

function words(text: string): readonly string[] {
  return text.split(" ").filter((word) => word !== "");
}
