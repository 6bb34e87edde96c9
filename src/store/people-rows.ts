import type { IdentityRow } from "./access-rows.ts";

/**
 * The people of a gateway as they are kept: declared once, for those who change them and those who keep them. Plain
 * values only, because they travel to a worker thread as JSON. Times are wall clock, in ms.
 */

export interface UserRow {
  /** `u_` and 26 letters and digits. */
  readonly id: string;
  readonly name: string;
  /** An admin may do everything, in every team. */
  readonly role: "admin" | "user";
  readonly status: "active" | "disabled";
  /** An address that is known to be the user's; absent or empty where none is. */
  readonly email?: string;
  /** The identity provider by which they are an admin; absent or empty where somebody here made them one. */
  readonly roleFrom?: string;
  readonly createdAtMs: number;
  readonly revision: number;
}

export interface TeamRow {
  /** `t_` and 26 letters and digits. */
  readonly id: string;
  readonly slug: string;
  /** What people call it; empty where it has no other name. */
  readonly title: string;
  readonly limits: TeamLimits;
  readonly createdAtMs: number;
  readonly revision: number;
}

/** The most that a team may have; what is absent is not limited. */
export interface TeamLimits {
  readonly members?: number;
  readonly servers?: number;
  /** Of the servers, those that are processes on the gateway's machine. */
  readonly programs?: number;
}

export const teamRoles = ["owner", "admin", "member"] as const;
export type TeamRole = (typeof teamRoles)[number];

/** A user in a team. Its id is the principal's. */
export interface MembershipRow {
  /** `m_` and 26 letters and digits. */
  readonly id: string;
  readonly teamId: string;
  readonly userId: string;
  readonly role: TeamRole;
  /** The identity provider that gave it; absent or empty where somebody here did. */
  readonly givenBy?: string;
  readonly createdAtMs: number;
  readonly revision: number;
}

/** A personal token. The token itself is not kept. */
export interface PatRow {
  /** `p_` and 26 letters and digits. */
  readonly id: string;
  readonly membershipId: string;
  readonly name: string;
  /** SHA-256 of the token, 64 lower-case hex digits. */
  readonly hash: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The beginning of the hour of its last use; null when it was never used. */
  readonly usedAtMs: number | null;
  /** Empty: everything that the roles permit. */
  readonly scopes: readonly string[];
  /** Slugs of the servers that it is for; null: all. */
  readonly only: readonly string[] | null;
}

/** An invitation into a team. Its secret is not kept. */
export interface InviteRow {
  /** `i_` and 26 letters and digits. */
  readonly id: string;
  readonly teamId: string;
  readonly role: TeamRole;
  /** For whom it is, in the words of whoever made it. */
  readonly about: string;
  /** SHA-256 of the secret, 64 lower-case hex digits. */
  readonly hash: string;
  /** Id of a membership, or `owner`. */
  readonly by: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
}

/** All of them. */
export interface PeopleRows {
  readonly users: readonly UserRow[];
  readonly teams: readonly TeamRow[];
  readonly memberships: readonly MembershipRow[];
  readonly pats: readonly PatRow[];
  readonly invites: readonly InviteRow[];
  /** The last change that is in them, where several gateways write to one database. */
  readonly seq?: number;
}

/** One change: rows that are new or replace those with their id, and ids of those that are removed. */
export interface PeopleWrites extends Partial<PeopleRows> {
  /** Users' accounts at identity providers: nobody has them in memory. */
  readonly identities?: readonly IdentityRow[];
  /** Their memberships go with them, and so on. */
  readonly goneUsers?: readonly string[];
  readonly goneTeams?: readonly string[];
  /** Their tokens go with them. */
  readonly goneMemberships?: readonly string[];
  readonly gonePats?: readonly string[];
  readonly goneInvites?: readonly string[];
}

/** When a token was last used. */
export interface PatUse {
  readonly id: string;
  readonly usedAtMs: number;
}
