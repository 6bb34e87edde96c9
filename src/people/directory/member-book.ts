import type { MembershipRow, PatRow, PeopleRows, PeopleWrites, TeamRow, UserRow } from "../../store/people-rows.ts";
import {
  createCredentials,
  createHeldPats,
  renewMember,
  type Credentials,
  type HeldPat,
  type Member,
  type OpenMember,
} from "./member.ts";

/**
 * All people of the database, in memory, by what they are looked up with. A change costs as much as it touches, however
 * many people there are.
 */
export interface MemberBook extends Credentials {
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

export function createMemberBook(): MemberBook {
  const users = new Map<string, UserRow>();
  const names = new Map<string, UserRow>();
  const teams = new Map<string, TeamRow>();
  const slugs = new Map<string, TeamRow>();
  const members = new Map<string, OpenMember>();
  const ofUser = new Map<string, Set<OpenMember>>();
  const held = createHeldPats();

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
    const member: OpenMember = known ?? {
      ...{ row, user, team, principal: undefined },
      ...{ pats: new Map(), credentials: new Map() },
    };
    Object.assign(member, { row, user, team });
    members.set(row.id, member);
    ofUser.set(user.id, (ofUser.get(user.id) ?? new Set()).add(member));
    return renewMember(member);
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
      isTaken = renewMember(member) || isTaken;
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
      for (const id of writes.gonePats ?? []) isTaken = held.drop(id) || isTaken;
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
    ...createCredentials(members),
    differenceTo: (rows) => difference(rows, members, held.byId),
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
