import type { TeamLimits, TeamRow, MembershipRow, TeamRole } from "../../../store/people-rows.ts";
import { parseRules, rankedRoles } from "../../../config/rows/rule-rows.ts";
import type { PolicyRule } from "../../../config/rows/rule-rows.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Plan } from "../change-queue.ts";
import {
  conflict,
  forbidden,
  requireRevision,
  revise,
  type MadeToken,
  type PlanFacts,
  isAtLeast,
  mayManage,
} from "../people-lookup.ts";

export interface NewTeam {
  readonly slug: string;
  readonly title?: string | undefined;
}

export interface TeamChange {
  readonly team: string;
  readonly title?: string | undefined;
  readonly limits?: TeamLimits | undefined;
  /** As they were written. */
  readonly rules?: unknown;
  readonly expected?: number | undefined;
}

/** Teams that one user may be the owner of: a company has few, and a program that makes them has to be stopped. */
const mostOwned = 10;
const firstTokenDays = 90;

/** A person who does not run the gateway becomes the team's owner, and gets a token for it. */
export function addTeam(facts: PlanFacts, { slug, title = "" }: NewTeam): Plan<MadeToken | undefined> {
  const team = facts.newTeam(slug, title);
  if (!facts.isAdmin(facts.by)) return ownTeam(facts, team);
  return { writes: { teams: [team] }, action: "team.add", object: slug, team: slug, result: undefined };
}

export function changeTeam(facts: PlanFacts, { team: slug, title, limits, rules, expected }: TeamChange): Plan<void> {
  const team = facts.teamOf(slug);
  if (limits !== undefined && !facts.isAdmin(facts.by)) throw forbidden("only an admin of the gateway sets limits");
  const change = {
    ...(title === undefined ? {} : { title: title.slice(0, 100) }),
    ...(limits === undefined ? {} : { limits }),
    ...(rules === undefined ? {} : { rules: toTeamRules(rules) }),
  };
  const about = { action: "team.change", object: slug, team: slug, detail: change };
  return { writes: { teams: [revise(team, expected, change)] }, ...about, result: undefined };
}

/** Each gateway has the rules of all teams in memory. */
const longestRules = 65_536;

/** Rules of a team make calls stricter, and nothing else. Throws PARAMS_INVALID with the place in them. */
function toTeamRules(written: unknown): readonly PolicyRule[] {
  const refuse = (problem: string): never => {
    throw new GatewayError("PARAMS_INVALID", `body.${problem}`, { data: { field: "body.rules" } });
  };
  const parsed = parseRules(written);
  if ("problem" in parsed) return refuse(parsed.problem);
  const known: readonly string[] = rankedRoles;
  for (const [at, { then, roles = [] }] of parsed.rules.entries()) {
    if (then === "allow") refuse(`rules[${at}].then: rules of a team only make calls stricter: expected deny or ask`);
    if (!roles.every((role) => known.includes(role)))
      refuse(`rules[${at}].roles: expected some of ${known.join(", ")}`);
  }
  if (JSON.stringify(parsed.rules).length > longestRules) refuse("rules: they are too long together");
  return parsed.rules;
}

export function removeTeam(facts: PlanFacts, slug: string, expected?: number): Plan<void> {
  const team = facts.teamOf(slug);
  if (!isAtLeast(facts.standingOf(facts.by, team), "owner")) throw forbidden("only an owner of the team may do that");
  requireRevision(team, expected);
  for (const { user } of facts.book.membersIn(team.id))
    facts.keepAdmin(user, facts.book.membersOf(user.id).length === 1, team.id);
  const about = { action: "team.remove", object: slug, team: slug };
  return { writes: { goneTeams: [team.id] }, ...about, result: undefined };
}

function ownTeam(facts: PlanFacts, team: TeamRow): Plan<MadeToken | undefined> {
  const user = facts.book.users.get(facts.by.user ?? "");
  if (user?.status !== "active") throw forbidden("only a user of the database may have a team");
  if (facts.isTeamOfConfig(team.slug)) throw conflict(`there is a team ${team.slug} already`);
  const owned = facts.book.membersOf(user.id).filter(({ row }) => row.role === "owner");
  if (owned.length >= mostOwned) throw conflict(`${user.name} has ${mostOwned} teams already`);
  const member = facts.newMember(user, team, "owner");
  const { row, made } = facts.newPat(member.id, "first", { days: firstTokenDays });
  const about = { action: "team.add", object: team.slug, team: team.slug };
  return { writes: { teams: [team], memberships: [member], pats: [row] }, ...about, result: made };
}

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
