import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { BrowserSessionRow, IdentityRow } from "../../store/access-rows.ts";
import type { AccessStore } from "../../store/access-store.ts";
import { sha256, type ChangeAccess } from "../authorization-server/access-changes.ts";
import type { BrowserSessions } from "../authorization-server/user-sessions.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";

/** Accounts at identity providers that log somebody in here. */
export interface LinkedAccounts {
  of(userId: string): Promise<readonly LinkedAccount[]>;
  /**
   * Takes one away from the logged-in user, with the browsers that are logged in at its provider, but not this one.
   * Rejects with FORBIDDEN for one that is not theirs, and with PEOPLE_CONFLICT for their last way in.
   */
  remove(session: BrowserSessionRow, id: string, ip: string | null): Promise<void>;
}

export interface LinkedAccount {
  /** The beginning of a hash: says nothing of the account. */
  readonly id: string;
  readonly label: string;
  /** Of the provider. */
  readonly host: string;
}

export interface LinkedAccountsDeps {
  readonly store: Pick<AccessStore, "identities" | "password">;
  readonly change: ChangeAccess;
  readonly sessions: Pick<BrowserSessions, "of">;
  readonly directory: Pick<TeamDirectory, "book">;
  /** Issuers at which people can log in now. */
  readonly issuers: () => readonly string[];
  readonly hasPasswords: () => boolean;
}

export function createLinkedAccounts(deps: LinkedAccountsDeps): LinkedAccounts {
  const { store, change, sessions, directory, issuers, hasPasswords } = deps;

  const isUsable = ({ issuer }: IdentityRow): boolean => issuers().some((one) => isSameIssuer(one, issuer));

  return {
    of: async (userId) =>
      (await store.identities(userId)).map((row) => ({ id: idOf(row), label: row.label, host: hostOf(row.issuer) })),
    async remove({ userId, hash: own }, id, ip) {
      const rows = await store.identities(userId);
      const found = rows.find((row) => idOf(row) === id);
      const name = directory.book.users.get(userId)?.name;
      if (found === undefined || name === undefined)
        throw new GatewayError("FORBIDDEN", "that is not yours", { hint: "" });
      const isOther = rows.some((row) => row !== found && isUsable(row));
      const isPassword = hasPasswords() && (await store.password(userId)) !== undefined;
      if (isUsable(found) && !isOther && !isPassword)
        throw new GatewayError("PEOPLE_CONFLICT", "this is your only way in: add another one before you remove it", {
          hint: "",
        });
      const ended = sessions.of(userId).filter(({ via, hash }) => via === found.issuer && hash !== own);
      await change(
        { goneIdentities: [found], goneSessions: ended.map(({ hash }) => hash) },
        {
          ...{ actor: name, via: "browser", action: "identity.remove", object: name, ip },
          detail: { issuer: found.issuer, subject: found.subject, sessions: ended.length },
        },
      );
    },
  };
}

function idOf({ issuer, subject }: IdentityRow): string {
  return sha256(`${issuer} ${subject}`).slice(0, 16);
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}

/** Some write the slash at the end, and some do not. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}
