import { isDeepStrictEqual } from "node:util";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { MembershipRow, PatRow, PeopleRows, PeopleWrites, TeamRow, UserRow } from "../../store/people-rows.ts";

/** A membership with what belongs to it. */
export interface Member {
  readonly row: MembershipRow;
  readonly user: UserRow;
  readonly team: TeamRow;
  /** Its tokens, by hash. */
  readonly pats: Map<string, HeldPat>;
  /** Undefined while the user is disabled. Another object as soon as something is taken from the person. */
  readonly principal: Principal | undefined;
}

export interface HeldPat {
  row: PatRow;
  readonly member: Member;
}

/**
 * All people of the database, in memory, by what they are looked up with. A change costs as much as it touches, however
 * many people there are.
 */
export interface MemberBook {
  readonly users: ReadonlyMap<string, UserRow>;
  readonly teams: ReadonlyMap<string, TeamRow>;
  readonly members: ReadonlyMap<string, Member>;
  /** By hash. */
  readonly tokens: ReadonlyMap<string, HeldPat>;
  userNamed(name: string): UserRow | undefined;
  teamOf(slug: string): TeamRow | undefined;
  membersOf(userId: string): readonly Member[];
  patOf(id: string): HeldPat | undefined;
  /** Returns whether something was taken from somebody. */
  apply(writes: PeopleWrites): boolean;
  /** What has to be written to become `rows`. */
  differenceTo(rows: PeopleRows): PeopleWrites;
}

type OpenMember = { -readonly [Key in keyof Member]: Member[Key] };

export function createMemberBook(): MemberBook {
  const users = new Map<string, UserRow>();
  const names = new Map<string, UserRow>();
  const teams = new Map<string, TeamRow>();
  const slugs = new Map<string, TeamRow>();
  const members = new Map<string, OpenMember>();
  const ofUser = new Map<string, Set<OpenMember>>();
  const held = createHeldPats();

  /** Whether the person lost something by it. */
  function renew(member: OpenMember, hasLost: boolean): boolean {
    const wanted = toPrincipal(member);
    const before = member.principal;
    if (!hasLost && isDeepStrictEqual(before === undefined ? undefined : { ...before }, wanted)) return false;
    member.principal = wanted === undefined ? undefined : Object.freeze(wanted);
    return before !== undefined;
  }

  function removeMember(id: string): boolean {
    const member = members.get(id);
    if (member === undefined) return false;
    for (const { row } of [...member.pats.values()]) held.remove(row.id);
    members.delete(id);
    ofUser.get(member.user.id)?.delete(member);
    return member.principal !== undefined;
  }

  function putMember(row: MembershipRow): boolean {
    const known = members.get(row.id);
    const user = users.get(row.userId);
    const team = teams.get(row.teamId);
    if (user === undefined || team === undefined) throw new Error(`the membership ${row.id} refers to nothing`);
    const member: OpenMember = known ?? { row, user, team, pats: new Map(), principal: undefined };
    Object.assign(member, { row, user, team });
    members.set(row.id, member);
    ofUser.set(user.id, (ofUser.get(user.id) ?? new Set()).add(member));
    return renew(member, false);
  }

  function putPat(row: PatRow): void {
    const member = members.get(row.membershipId);
    if (member === undefined) throw new Error(`the token ${row.id} refers to nothing`);
    held.put(row, member);
  }

  function putUser(row: UserRow): boolean {
    const before = users.get(row.id);
    if (before !== undefined) names.delete(before.name);
    users.set(row.id, row);
    names.set(row.name, row);
    let isTaken = false;
    for (const member of ofUser.get(row.id) ?? []) {
      member.user = row;
      isTaken = renew(member, false) || isTaken;
    }
    return isTaken;
  }

  return {
    users,
    teams,
    members,
    tokens: held.byHash,
    userNamed: (name) => names.get(name),
    teamOf: (slug) => slugs.get(slug),
    membersOf: (userId) => [...(ofUser.get(userId) ?? [])],
    patOf: (id) => held.byId.get(id),
    apply(writes) {
      let isTaken = false;
      for (const id of writes.gonePats ?? []) {
        const member = held.remove(id);
        if (member !== undefined) isTaken = renew(member, true) || isTaken;
      }
      for (const id of writes.goneMemberships ?? []) isTaken = removeMember(id) || isTaken;
      for (const row of writes.users ?? []) isTaken = putUser(row) || isTaken;
      for (const row of writes.teams ?? []) {
        teams.set(row.id, row);
        slugs.set(row.slug, row);
      }
      for (const row of writes.memberships ?? []) isTaken = putMember(row) || isTaken;
      for (const row of writes.pats ?? []) putPat(row);
      return isTaken;
    },
    differenceTo: (rows) => difference(rows, members, held.byId),
  };
}

/** Tokens by what they are looked up with, and at the members whose they are. */
function createHeldPats() {
  const byHash = new Map<string, HeldPat & { readonly member: OpenMember }>();
  const byId = new Map<string, HeldPat & { readonly member: OpenMember }>();
  return {
    byHash,
    byId,
    put(row: PatRow, member: OpenMember): void {
      const held = { row, member };
      byId.set(row.id, held);
      byHash.set(row.hash, held);
      member.pats.set(row.hash, held);
    },
    /** Returns whose it was. */
    remove(id: string): OpenMember | undefined {
      const held = byId.get(id);
      if (held === undefined) return undefined;
      byId.delete(id);
      byHash.delete(held.row.hash);
      held.member.pats.delete(held.row.hash);
      return held.member;
    },
  };
}

function difference(
  rows: PeopleRows,
  members: ReadonlyMap<string, unknown>,
  pats: ReadonlyMap<string, unknown>,
): PeopleWrites {
  const keptMembers = new Set(rows.memberships.map(({ id }) => id));
  const keptPats = new Set(rows.pats.map(({ id }) => id));
  return {
    ...rows,
    goneMemberships: [...members.keys()].filter((id) => !keptMembers.has(id)),
    gonePats: [...pats.keys()].filter((id) => !keptPats.has(id)),
  };
}

/**
 * `admin` is the word of the whole gateway for somebody who sees the figures of all: only an admin of the gateway gets
 * it, never one of a team.
 */
function toPrincipal({ row, user, team }: Member): Principal | undefined {
  if (user.status !== "active") return undefined;
  const inTeam = row.role === "member" ? [] : [`team-${row.role}`];
  return {
    id: row.id as PrincipalId,
    team: team.slug,
    roles: [...(user.role === "admin" ? ["admin"] : []), "member", ...inTeam],
    scopes: [],
  };
}
