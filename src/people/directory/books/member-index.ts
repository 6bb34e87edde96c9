import type {
  InviteRow,
  MembershipRow,
  PatRow,
  PeopleRows,
  PeopleWrites,
  TeamRow,
  UserRow,
} from "../../../store/people-rows.ts";
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
export interface MemberIndex extends Credentials {
  readonly users: ReadonlyMap<string, UserRow>;
  readonly teams: ReadonlyMap<string, TeamRow>;
  readonly members: ReadonlyMap<string, Member>;
  /** By hash. */
  readonly tokens: ReadonlyMap<string, HeldPat>;
  readonly invites: ReadonlyMap<string, InviteRow>;
  userNamed(name: string): UserRow | undefined;
  teamOf(slug: string): TeamRow | undefined;
  /** The memberships of a user. */
  membersOf(userId: string): readonly Member[];
  /** The members of a team. */
  membersIn(teamId: string): readonly Member[];
  patOf(id: string): HeldPat | undefined;
  /** Returns whether something was taken from somebody. */
  apply(writes: PeopleWrites): boolean;
  /** What has to be written to become `rows`. */
  differenceTo(rows: PeopleRows): PeopleWrites;
}

export function createMemberIndex(): MemberIndex {
  const users = createNamed<UserRow>(({ name }) => name);
  const teams = createNamed<TeamRow>(({ slug }) => slug);
  const invites = new Map<string, InviteRow>();
  const held = createHeldPats();
  const memberships = createMemberships(users.byId, teams.byId, held);
  const { members, ofUser, inTeam } = memberships;

  function removeAll({ gonePats = [], goneMemberships = [], goneUsers = [], goneTeams = [] }: PeopleWrites): boolean {
    const gone = [
      ...goneMemberships,
      ...goneUsers.flatMap((id) => ofUser.of(id).map(({ row }) => row.id)),
      ...goneTeams.flatMap((id) => inTeam.of(id).map(({ row }) => row.id)),
    ];
    const pats = gonePats.filter((id) => held.drop(id));
    const removed = gone.filter((id) => memberships.remove(id));
    for (const id of goneUsers) users.remove(id);
    for (const id of goneTeams) teams.remove(id);
    for (const invite of [...invites.values()]) if (goneTeams.includes(invite.teamId)) invites.delete(invite.id);
    return pats.length + removed.length > 0;
  }

  return {
    users: users.byId,
    teams: teams.byId,
    members,
    tokens: held.byHash,
    invites,
    userNamed: (name) => users.byName.get(name),
    teamOf: (slug) => teams.byName.get(slug),
    membersOf: ofUser.of,
    membersIn: inTeam.of,
    patOf: (id) => held.byId.get(id),
    apply(writes) {
      for (const id of writes.goneInvites ?? []) invites.delete(id);
      let isTaken = removeAll(writes);
      for (const row of writes.users ?? []) {
        users.put(row);
        for (const member of ofUser.of(row.id)) isTaken = memberships.put(member.row) || isTaken;
      }
      for (const row of writes.teams ?? []) {
        teams.put(row);
        for (const member of inTeam.of(row.id)) isTaken = memberships.put(member.row) || isTaken;
      }
      for (const row of writes.memberships ?? []) isTaken = memberships.put(row) || isTaken;
      for (const row of writes.pats ?? []) memberships.putPat(row);
      for (const row of writes.invites ?? []) invites.set(row.id, row);
      return isTaken;
    },
    ...createCredentials(members),
    differenceTo: (rows) => ({
      ...rows,
      goneUsers: missing(users.byId, rows.users),
      goneTeams: missing(teams.byId, rows.teams),
      goneMemberships: missing(members, rows.memberships),
      gonePats: missing(held.byId, rows.pats),
      goneInvites: missing(invites, rows.invites),
    }),
  };
}

function missing(known: ReadonlyMap<string, unknown>, rows: readonly { readonly id: string }[]): string[] {
  const kept = new Set(rows.map(({ id }) => id));
  return [...known.keys()].filter((id) => !kept.has(id));
}

/** Rows by their id and by their name. */
function createNamed<Row extends { readonly id: string }>(nameOf: (row: Row) => string) {
  const byId = new Map<string, Row>();
  const byName = new Map<string, Row>();
  function remove(id: string): void {
    const before = byId.get(id);
    if (before === undefined) return;
    byId.delete(id);
    if (byName.get(nameOf(before))?.id === id) byName.delete(nameOf(before));
  }
  return {
    byId,
    byName,
    remove,
    put(row: Row): void {
      // Replaced in its place: a list of all keeps its order.
      const before = byId.get(row.id);
      if (before !== undefined && byName.get(nameOf(before))?.id === row.id) byName.delete(nameOf(before));
      byId.set(row.id, row);
      byName.set(nameOf(row), row);
    },
  };
}

/** Memberships by their user and by their team. */
function createMemberships(
  users: ReadonlyMap<string, UserRow>,
  teams: ReadonlyMap<string, TeamRow>,
  held: ReturnType<typeof createHeldPats>,
) {
  const members = new Map<string, OpenMember>();
  const [ofUser, inTeam] = [createGroups(), createGroups()];
  return {
    members,
    ofUser,
    inTeam,
    /** Returns whether somebody lost something by it. */
    remove(id: string): boolean {
      const member = members.get(id);
      if (member === undefined) return false;
      for (const { row } of [...member.pats.values()]) held.remove(row.id);
      members.delete(id);
      ofUser.leave(member.row.userId, member);
      inTeam.leave(member.row.teamId, member);
      return member.principal !== undefined;
    },
    /** The same. */
    put(row: MembershipRow): boolean {
      const user = users.get(row.userId);
      const team = teams.get(row.teamId);
      if (user === undefined || team === undefined) throw new Error(`the membership ${row.id} refers to nothing`);
      const member: OpenMember = members.get(row.id) ?? {
        ...{ row, user, team, principal: undefined },
        ...{ pats: new Map(), credentials: new Map(), emptied: 0 },
      };
      Object.assign(member, { row, user, team });
      members.set(row.id, member);
      ofUser.join(user.id, member);
      inTeam.join(team.id, member);
      return renewMember(member);
    },
    putPat(row: PatRow): void {
      const member = members.get(row.membershipId);
      if (member === undefined) throw new Error(`the token ${row.id} refers to nothing`);
      held.put(row, member);
    },
  };
}

function createGroups() {
  const groups = new Map<string, Set<OpenMember>>();
  return {
    of: (id: string): readonly OpenMember[] => [...(groups.get(id) ?? [])],
    join: (id: string, member: OpenMember): void => {
      groups.set(id, (groups.get(id) ?? new Set()).add(member));
    },
    leave(id: string, member: OpenMember): void {
      const group = groups.get(id);
      group?.delete(member);
      if (group?.size === 0) groups.delete(id);
    },
  };
}
