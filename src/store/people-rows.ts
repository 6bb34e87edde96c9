import type { PolicyRule } from "../config/rows/rule-rows.ts";
import type { IdentityRow } from "./access-rows.ts";
import {
  integer,
  integerOrNull,
  json,
  jsonIfAny,
  jsonOrNull,
  named,
  table,
  text,
  textIfAny,
  word,
  type RowOf,
} from "./state-table.ts";

/**
 * The people of a gateway as they are kept: declared once, for those who change them and those who keep them. Plain
 * values only, because they travel to a worker thread as JSON. Times are wall clock, in ms.
 */

/** The most that a team may have; an absent limit does not apply. */
export interface TeamLimits {
  readonly members?: number;
  readonly servers?: number;
  /** Of the servers, those that are processes on the gateway's machine. */
  readonly programs?: number;
}

export const teamRoles = ["owner", "admin", "member"] as const;
export type TeamRole = (typeof teamRoles)[number];

export const peopleTables = {
  user: table({
    /** `u_` and 26 letters and digits. */
    id: text,
    name: text,
    /** An admin may do everything, in every team. */
    role: word<"admin" | "user">(),
    status: word<"active" | "disabled">(),
    /** An address that is known to be the user's; absent or empty where none is. */
    email: textIfAny,
    /** The identity provider by which they are an admin; absent or empty where somebody here made them one. */
    roleFrom: textIfAny,
    createdAtMs: integer,
    revision: integer,
  }),
  team: table({
    /** `t_` and 26 letters and digits. */
    id: text,
    slug: text,
    /** What people call it; empty where it has no other name. */
    title: text,
    limits: json<TeamLimits>(),
    /** Of its own, about calls of the servers that it installed; absent or empty where there are none. */
    rules: jsonIfAny<readonly PolicyRule[]>(),
    createdAtMs: integer,
    revision: integer,
  }),
  /** A user in a team. Its id is the principal's. */
  membership: table({
    /** `m_` and 26 letters and digits. */
    id: text,
    teamId: text,
    userId: text,
    role: word<TeamRole>(),
    /** The identity provider that gave it; absent or empty where somebody here did. */
    givenBy: textIfAny,
    createdAtMs: integer,
    revision: integer,
  }),
  /** A personal token. The token itself is not kept. */
  pat: table({
    /** `p_` and 26 letters and digits. */
    id: text,
    membershipId: text,
    name: text,
    /** SHA-256 of the token, 64 lower-case hex digits. */
    hash: text,
    createdAtMs: integer,
    expiresAtMs: integer,
    /** The beginning of the hour of its last use; null when it was never used. */
    usedAtMs: integerOrNull,
    /** Empty: everything that the roles permit. */
    scopes: json<readonly string[]>(),
    /** Slugs of the servers that it is for; null: all. */
    only: named("only_servers", jsonOrNull<readonly string[]>()),
    /** The profile within which it sees and calls; absent or empty for one that is for everything. */
    profile: textIfAny,
  }),
  /** An invitation into a team. Its secret is not kept. */
  invite: table({
    /** `i_` and 26 letters and digits. */
    id: text,
    teamId: text,
    role: word<TeamRole>(),
    /** For whom it is, in the words of its author. */
    about: text,
    /** SHA-256 of the secret, 64 lower-case hex digits. */
    hash: text,
    /** Id of a membership, or `owner`. */
    by: named("invited_by", text),
    createdAtMs: integer,
    expiresAtMs: integer,
    usedAtMs: integerOrNull,
  }),
};

type Tables = typeof peopleTables;
export type UserRow = RowOf<Tables["user"]>;
export type TeamRow = RowOf<Tables["team"]>;
export type MembershipRow = RowOf<Tables["membership"]>;
export type PatRow = RowOf<Tables["pat"]>;
export type InviteRow = RowOf<Tables["invite"]>;

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
  /** Users' accounts at identity providers: they are not held in memory. */
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
