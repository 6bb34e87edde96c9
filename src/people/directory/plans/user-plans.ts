import type { TeamRole, UserRow } from "../../../store/people-rows.ts";
import type { Plan } from "../change-queue.ts";
import {
  conflict,
  forbidden,
  mostTokens,
  revise,
  unknown,
  type MadeToken,
  type PlanFacts,
  type TokenLimits,
} from "../people-lookup.ts";

export interface NewUser extends TokenLimits {
  readonly name: string;
  readonly isAdmin: boolean;
  /** With a team, the user is put into it and gets a token. An admin's team is made where it is missing. */
  readonly team: string | undefined;
  readonly role: TeamRole;
  /** As in `UserChange`. */
  readonly email?: string | undefined;
}

export interface UserChange {
  /** Name or id. */
  readonly user: string;
  readonly name?: string | undefined;
  readonly role?: UserRow["role"] | undefined;
  readonly status?: UserRow["status"] | undefined;
  /** By which a provider with `linkByEmail` knows the user; empty takes it away. No two users have the same. */
  readonly email?: string | undefined;
  /** The revision that it was read with; without it, whatever it is now is changed. */
  readonly expected?: number | undefined;
}

export interface NewPat extends TokenLimits {
  readonly user: string;
  /** May be left out where the user is in one team only. */
  readonly team: string | undefined;
  /** What its owner calls it. */
  readonly name: string;
}

export function addUser(
  facts: PlanFacts,
  { name, isAdmin, team: slug, role, email, ...limits }: NewUser,
): Plan<MadeToken | undefined> {
  const made = facts.newUser(name, isAdmin ? "admin" : "user");
  const user = email === undefined ? made : { ...made, email: facts.toEmail(email, made) };
  const about = { action: "user.add", object: name, detail: { role: user.role, ...emailOf(user) } };
  if (slug === undefined) return { writes: { users: [user] }, ...about, result: undefined };
  const known = facts.book.teamOf(slug);
  const team = known ?? (isAdmin ? facts.newTeam(slug, "") : facts.teamOf(slug));
  const member = facts.newMember(user, team, role);
  const first = facts.newPat(member.id, "first", limits);
  const teams = known === undefined ? [team] : [];
  return {
    writes: { users: [user], teams, memberships: [member], pats: [first.row] },
    ...about,
    team: slug,
    result: first.made,
  };
}

export function changeUser(
  facts: PlanFacts,
  { user: given, name, role, status, email, expected }: UserChange,
): Plan<void> {
  const user = facts.userOf(given);
  if (role !== undefined && facts.by.user === user.id) throw forbidden("nobody changes their own role");
  facts.keepAdmin(user, status === "disabled" || role === "user");
  if (name !== undefined && name !== user.name && facts.book.userNamed(name) !== undefined)
    throw conflict(`there is a user ${name} already`);
  const change = {
    ...(name === undefined ? {} : { name: facts.toName(name) }),
    ...(role === undefined ? {} : { role, roleFrom: "" }),
    ...(status === undefined ? {} : { status }),
    ...(email === undefined ? {} : { email: facts.toEmail(email, user) }),
  };
  const [action, detail] = toAction(change, user);
  return {
    writes: { users: [revise(user, expected, change)] },
    action,
    object: user.name,
    detail,
    result: undefined,
  };
}

export function removeUser(facts: PlanFacts, given: string): Plan<void> {
  const user = facts.userOf(given);
  if (facts.by.user === user.id) throw forbidden("nobody removes themselves");
  facts.keepAdmin(user, true);
  return { writes: { goneUsers: [user.id] }, action: "user.remove", object: user.name, result: undefined };
}

/** Revokes every token of the user, in all teams. The result is how many there were. */
export function resetUser(facts: PlanFacts, given: string): Plan<number> {
  const user = facts.userOf(given);
  const gonePats = facts.book.membersOf(user.id).flatMap(({ row }) => facts.book.patsOf(row.id).map(({ id }) => id));
  const detail = { tokens: gonePats.length };
  return { writes: { gonePats }, action: "user.reset", object: user.name, detail, result: gonePats.length };
}

export function addToken(facts: PlanFacts, { user: given, team, name: label, ...limits }: NewPat): Plan<MadeToken> {
  const user = facts.userOf(given);
  if (user.status !== "active")
    throw conflict(`${user.name} is disabled`, "`toolyard user enable` lets them in again.");
  const member = facts.memberOf(user, team);
  if (facts.book.patsOf(member.row.id).length >= mostTokens)
    throw conflict(`${user.name} has ${mostTokens} tokens already`, "Revoke those that nobody uses.");
  const { row, made } = facts.newPat(member.row.id, label, limits);
  const { scopes, only, profile } = row;
  const detail = { of: member.row.id, scopes, only, profile };
  const about = { action: "token.add", object: made.id, team: member.team.slug, detail };
  return { writes: { pats: [row] }, ...about, result: made };
}

/** `of` is the membership that it has to belong to. */
export function revokeToken(facts: PlanFacts, id: string, of?: string): Plan<void> {
  const member = facts.book.members.get(facts.book.pats.get(id)?.membershipId ?? "");
  if (member === undefined || (of !== undefined && member.row.id !== of))
    unknown("there is no such token", "`toolyard token list` lists them.");
  return { writes: { gonePats: [id] }, action: "token.revoke", object: id, team: member.team.slug, result: undefined };
}

/** An address is a way in, so that the audit says who was given which. */
function emailOf({ email = "" }: UserRow): { readonly email?: string } {
  return email === "" ? {} : { email };
}

function toAction(change: Partial<UserRow>, { role, name }: UserRow): [string, Record<string, unknown>] {
  if (change.status !== undefined) return [change.status === "disabled" ? "user.disable" : "user.enable", {}];
  if (change.role !== undefined) return ["user.role", { from: role, to: change.role }];
  if (change.name === undefined) return ["user.email", { email: change.email }];
  const email = change.email === undefined ? {} : { email: change.email };
  return ["user.rename", { from: name, to: change.name, ...email }];
}
