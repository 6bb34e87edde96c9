import type {
  InviteRow,
  MembershipRow,
  PatRow,
  PeopleRows,
  PeopleWrites,
  TeamRow,
  UserRow,
} from "../../../store/people-rows.ts";
import { createRowTable } from "../../changes/row-table.ts";
import {
  createCredentials,
  noteEmptied,
  renewMember,
  type Credentials,
  type Member,
  type OpenMember,
} from "./member.ts";

/** All people of the database, in memory, by what they are looked up with. */
export interface MemberIndex extends Credentials {
  readonly users: ReadonlyMap<string, UserRow>;
  readonly teams: ReadonlyMap<string, TeamRow>;
  readonly members: ReadonlyMap<string, Member>;
  readonly pats: ReadonlyMap<string, PatRow>;
  readonly invites: ReadonlyMap<string, InviteRow>;
  userNamed(name: string): UserRow | undefined;
  teamOf(slug: string): TeamRow | undefined;
  /** The memberships of a user. */
  membersOf(userId: string): readonly Member[];
  /** The members of a team. */
  membersIn(teamId: string): readonly Member[];
  /** The personal tokens of a membership. */
  patsOf(membershipId: string): readonly PatRow[];
  patWith(hash: string): PatRow | undefined;
  /** The invitations into a team. */
  invitesOf(teamId: string): readonly InviteRow[];
  inviteWith(hash: string): InviteRow | undefined;
  /** Returns whether something was taken from somebody. */
  apply(writes: PeopleWrites): boolean;
  /** When a token was last used. */
  noteUse(patId: string, usedAtMs: number): void;
  /** What has to be written to become `rows`. */
  differenceTo(rows: PeopleRows): PeopleWrites;
}

export function createMemberIndex(): MemberIndex {
  const tables = createTables();
  const { users, teams, members, pats, invites, membersOf, membersIn, patsOf, invitesOf } = tables;
  const { dropPat, putPat, putMember, removeMember } = createMembers(tables);

  function removeAll({ gonePats = [], goneMemberships = [], goneUsers = [], goneTeams = [] }: PeopleWrites): boolean {
    const gone = [
      ...goneMemberships,
      ...[...goneUsers.flatMap(membersOf), ...goneTeams.flatMap(membersIn)].map(({ row }) => row.id),
    ];
    const taken = [...gonePats.map(dropPat), ...gone.map(removeMember)];
    for (const id of goneUsers) users.remove(id);
    for (const id of goneTeams) teams.remove(id);
    for (const { id } of goneTeams.flatMap(invitesOf)) invites.remove(id);
    return taken.includes(true);
  }

  return {
    users: users.rows,
    teams: teams.rows,
    members: members.rows,
    pats: pats.rows,
    invites: invites.rows,
    userNamed: tables.userNamed,
    teamOf: tables.teamOf,
    membersOf,
    membersIn,
    patsOf,
    patWith: tables.patWith,
    invitesOf,
    inviteWith: tables.inviteWith,
    apply(writes) {
      for (const id of writes.goneInvites ?? []) invites.remove(id);
      const taken = [removeAll(writes)];
      for (const row of writes.users ?? []) {
        users.put(row);
        for (const member of membersOf(row.id)) taken.push(putMember(member.row));
      }
      for (const row of writes.teams ?? []) {
        teams.put(row);
        for (const member of membersIn(row.id)) taken.push(putMember(member.row));
      }
      for (const row of writes.memberships ?? []) taken.push(putMember(row));
      for (const row of writes.pats ?? []) putPat(row);
      for (const row of writes.invites ?? []) invites.put(row);
      return taken.includes(true);
    },
    noteUse(patId, usedAtMs) {
      const row = pats.rows.get(patId);
      if (row !== undefined) pats.put({ ...row, usedAtMs });
    },
    ...createCredentials(members.rows, patsOf),
    differenceTo: (rows) => ({
      ...rows,
      goneUsers: users.missing(rows.users.map(toId)),
      goneTeams: teams.missing(rows.teams.map(toId)),
      goneMemberships: members.missing(rows.memberships.map(toId)),
      gonePats: pats.missing(rows.pats.map(toId)),
      goneInvites: invites.missing(rows.invites.map(toId)),
    }),
  };
}

function createTables() {
  const [users, teams] = [createRowTable<UserRow>(toId), createRowTable<TeamRow>(toId)];
  const [pats, invites] = [createRowTable<PatRow>(toId), createRowTable<InviteRow>(toId)];
  const members = createRowTable<OpenMember>(({ row }) => row.id);
  return {
    ...{ users, teams, members, pats, invites },
    userNamed: users.unique(({ name }) => name),
    teamOf: teams.unique(({ slug }) => slug),
    membersOf: members.grouped(({ user }) => user.id).of,
    membersIn: members.grouped(({ team }) => team.id).of,
    patsOf: pats.grouped(({ membershipId }) => membershipId).of,
    patWith: pats.unique(({ hash }) => hash),
    invitesOf: invites.grouped(({ teamId }) => teamId).of,
    inviteWith: invites.unique(({ hash }) => hash),
  };
}

/** Memberships and their tokens. Everything returns whether somebody lost something by it. */
function createMembers({ users, teams, members, pats, patsOf }: ReturnType<typeof createTables>) {
  return {
    /** A token for one instance is as good as the personal tokens that it was made beside: it ends with any of them. */
    dropPat(id: string): boolean {
      const member = members.rows.get(pats.remove(id)?.membershipId ?? "");
      if (member === undefined) return false;
      member.credentials.delete(id);
      noteEmptied(member, patsOf);
      if (member.principal === undefined) return false;
      member.principal = Object.freeze({ ...member.principal });
      return true;
    },
    putPat(row: PatRow): void {
      if (!members.rows.has(row.membershipId)) throw new Error(`the token ${row.id} refers to nothing`);
      pats.put(row);
    },
    putMember(row: MembershipRow): boolean {
      const user = users.rows.get(row.userId);
      const team = teams.rows.get(row.teamId);
      if (user === undefined || team === undefined) throw new Error(`the membership ${row.id} refers to nothing`);
      const member: OpenMember = members.rows.get(row.id) ?? {
        ...{ row, user, team, principal: undefined },
        ...{ credentials: new Map(), emptied: 0 },
      };
      Object.assign(member, { row, user, team });
      members.put(member);
      return renewMember(member);
    },
    removeMember(id: string): boolean {
      for (const pat of patsOf(id)) pats.remove(pat.id);
      return members.remove(id)?.principal !== undefined;
    },
  };
}

function toId({ id }: { readonly id: string }): string {
  return id;
}
