import type { MembershipRow, TeamRole, TeamRow } from "../../../store/people-rows.ts";
import type { ChangeActor, Plan } from "../change-queue.ts";
import { conflict, forbidden, requireRevision, revise, type PeopleFacts } from "../people-facts.ts";
import { isAtLeast, mayManage } from "../team-rights.ts";

/** Which member: by the id of the membership, or the name of the user. */
export interface MemberChoice {
  readonly team: string;
  readonly member: string;
  readonly expected?: number | undefined;
}

/** Changes of who is in a team, and as what. */
export function createMemberPlans(facts: PeopleFacts) {
  const { book, teamOf, memberIn, standingOf } = facts;

  function requireManage(by: ChangeActor, team: TeamRow, role: TeamRole): void {
    if (mayManage(standingOf(by, team), role)) return;
    throw forbidden(role === "member" ? "only an admin of the team may do that" : `this takes more than you are in it`);
  }

  return {
    addMember(by: ChangeActor, given: { team: string; user: string; role: TeamRole }): Plan<MembershipRow> {
      const [team, user] = [teamOf(given.team), facts.userOf(given.user)];
      requireManage(by, team, given.role);
      if (book.membersOf(user.id).some((member) => member.team.id === team.id))
        throw conflict(`${user.name} is in ${team.slug} already`);
      const member = facts.newMember(user, team, given.role);
      const about = { action: "team.member.add", object: user.name, team: team.slug, detail: { role: given.role } };
      return { writes: { memberships: [member] }, ...about, result: member };
    },

    changeMember(by: ChangeActor, { team: slug, member: given, expected }: MemberChoice, role: TeamRole): Plan<void> {
      const team = teamOf(slug);
      const { row, user } = memberIn(team, given);
      if (by.user === user.id) throw forbidden("nobody changes their own role");
      requireManage(by, team, row.role);
      requireManage(by, team, role);
      const about = { action: "team.member.role", object: user.name, team: slug, detail: { from: row.role, to: role } };
      return { writes: { memberships: [revise(row, expected, { role, givenBy: "" })] }, ...about, result: undefined };
    },

    /** Members may leave by themselves; an owner hands the team over first. */
    removeMember(by: ChangeActor, { team: slug, member: given, expected }: MemberChoice): Plan<void> {
      const team = teamOf(slug);
      const { row, user } = memberIn(team, given);
      const leaves = by.user === user.id && by.id === row.id;
      if (!leaves || row.role === "owner") requireManage(by, team, row.role);
      requireRevision(row, expected);
      facts.keepAdmin(user, book.membersOf(user.id).length === 1);
      const about = { action: "team.member.remove", object: user.name, team: slug };
      return { writes: { goneMemberships: [row.id] }, ...about, result: undefined };
    },

    /** Hands the team over: whoever owned it before is an admin of it then. */
    setOwner(by: ChangeActor, { team: slug, member: given, expected }: MemberChoice): Plan<void> {
      const team = teamOf(slug);
      if (!isAtLeast(standingOf(by, team), "owner")) throw forbidden("only an owner of the team may do that");
      requireRevision(team, expected);
      const { row, user } = memberIn(team, given);
      if (by.user === user.id) throw forbidden("nobody changes their own role");
      const before = book.membersIn(team.id).filter((one) => one.row.role === "owner" && one.row.id !== row.id);
      const memberships = [
        ...before.map((one) => revise(one.row, undefined, { role: "admin", givenBy: "" })),
        revise(row, undefined, { role: "owner", givenBy: "" }),
      ];
      const teams = [revise(team, undefined, {})];
      const about = { action: "team.owner", object: user.name, team: slug };
      return { writes: { teams, memberships }, ...about, result: undefined };
    },
  };
}
