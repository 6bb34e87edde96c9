import type { MembershipRow, TeamRole, TeamRow } from "../../../store/people-rows.ts";
import type { Plan } from "../change-queue.ts";
import { conflict, forbidden, requireRevision, revise, type PlanFacts } from "../people-lookup.ts";
import { isAtLeast, mayManage } from "../team-rights.ts";

/** Which member: by the id of the membership, or the name of the user. */
export interface MemberChoice {
  readonly team: string;
  readonly member: string;
  readonly expected?: number | undefined;
}

export function addMember(
  facts: PlanFacts,
  given: { team: string; user: string; role: TeamRole },
): Plan<MembershipRow> {
  const [team, user] = [facts.teamOf(given.team), facts.userOf(given.user)];
  requireManage(facts, team, given.role);
  if (facts.book.membersOf(user.id).some((member) => member.team.id === team.id))
    throw conflict(`${user.name} is in ${team.slug} already`);
  const member = facts.newMember(user, team, given.role);
  const about = { action: "team.member.add", object: user.name, team: team.slug, detail: { role: given.role } };
  return { writes: { memberships: [member] }, ...about, result: member };
}

export function changeMember(
  facts: PlanFacts,
  { team: slug, member: given, expected }: MemberChoice,
  role: TeamRole,
): Plan<void> {
  const team = facts.teamOf(slug);
  const { row, user } = facts.memberIn(team, given);
  if (facts.by.user === user.id) throw forbidden("nobody changes their own role");
  requireManage(facts, team, row.role);
  requireManage(facts, team, role);
  const about = { action: "team.member.role", object: user.name, team: slug, detail: { from: row.role, to: role } };
  return { writes: { memberships: [revise(row, expected, { role, givenBy: "" })] }, ...about, result: undefined };
}

/** Members may leave by themselves; an owner hands the team over first. */
export function removeMember(facts: PlanFacts, { team: slug, member: given, expected }: MemberChoice): Plan<void> {
  const team = facts.teamOf(slug);
  const { row, user } = facts.memberIn(team, given);
  const leaves = facts.by.user === user.id && facts.by.id === row.id;
  if (!leaves || row.role === "owner") requireManage(facts, team, row.role);
  requireRevision(row, expected);
  facts.keepAdmin(user, facts.book.membersOf(user.id).length === 1);
  const about = { action: "team.member.remove", object: user.name, team: slug };
  return { writes: { goneMemberships: [row.id] }, ...about, result: undefined };
}

/** Hands the team over: its owner before is an admin of it then. */
export function setOwner(facts: PlanFacts, { team: slug, member: given, expected }: MemberChoice): Plan<void> {
  const team = facts.teamOf(slug);
  if (!isAtLeast(facts.standingOf(facts.by, team), "owner")) throw forbidden("only an owner of the team may do that");
  requireRevision(team, expected);
  const { row, user } = facts.memberIn(team, given);
  if (facts.by.user === user.id) throw forbidden("nobody changes their own role");
  const before = facts.book.membersIn(team.id).filter((one) => one.row.role === "owner" && one.row.id !== row.id);
  const memberships = [
    ...before.map((one) => revise(one.row, undefined, { role: "admin", givenBy: "" })),
    revise(row, undefined, { role: "owner", givenBy: "" }),
  ];
  const teams = [revise(team, undefined, {})];
  const about = { action: "team.owner", object: user.name, team: slug };
  return { writes: { teams, memberships }, ...about, result: undefined };
}

function requireManage(facts: PlanFacts, team: TeamRow, role: TeamRole): void {
  if (mayManage(facts.standingOf(facts.by, team), role)) return;
  throw forbidden(role === "member" ? "only an admin of the team may do that" : `this takes more than you are in it`);
}
