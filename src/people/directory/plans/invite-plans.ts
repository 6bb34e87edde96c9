import { randomId } from "../../../kernel/text/random-id.ts";
import type { PasswordRow } from "../../../store/access-rows.ts";
import type { InviteRow, TeamRole, TeamRow, UserRow } from "../../../store/people-rows.ts";
import type { Plan } from "../change-queue.ts";
import { conflict, forbidden, unknown, type MadeToken, type PlanFacts, mayManage } from "../people-lookup.ts";

export interface NewInvite {
  readonly team: string;
  readonly role: TeamRole;
  /** For whom it is; only shown. */
  readonly about?: string | undefined;
}

/** An invitation that was just made: the only time that anybody sees its secret. */
export interface MadeInvite {
  readonly id: string;
  readonly secret: string;
  readonly expiresAtMs: number;
}

export interface InviteAnswer {
  readonly secret: string;
  /** Who accepts it: the id of a user who has signed in. Without it an account is made. */
  readonly user: string | null;
  /** Of the account that is made. */
  readonly name?: string | undefined;
  /** Of the account that is made: the hash of its password, which it is logged in with instead of a token. */
  readonly passwordHash?: string | undefined;
  /** False: they are logged in with a browser, and make tokens there when they need one. */
  readonly withToken?: boolean;
}

/** What somebody who has an invitation's secret may know of it. */
export interface OpenInvite {
  readonly team: string;
  readonly title: string;
  readonly role: TeamRole;
}

/** What came of an invitation. */
export interface Joined {
  readonly user: string;
  readonly team: string;
  readonly membership: string;
  readonly userId: string;
  /** The first token of the membership, where one was asked for. */
  readonly made: MadeToken | undefined;
}

/** A person who does not come in that time asks again. */
const inviteMs = 72 * 3_600_000;
/** That wait in one team: more are not invitations any more. */
const mostInvites = 100;
const firstTokenDays = 90;

export function addInvite(facts: PlanFacts, { team: slug, role, about = "" }: NewInvite): Plan<MadeInvite> {
  const team = facts.teamOf(slug);
  if (!mayManage(facts.standingOf(facts.by, team), role))
    throw forbidden(`you may not make anybody ${role} of the team`);
  const ofTeam = facts.book.invitesOf(team.id);
  if (ofTeam.filter((invite) => isOpen(facts, invite)).length >= mostInvites)
    throw conflict(`${mostInvites} invitations wait already`, "Take back those that nobody needs.");
  const { token: secret, hash } = facts.newSecret("ty_inv_");
  const [id, now] = [randomId("i_"), facts.clock.now()];
  const expiresAtMs = now + inviteMs;
  const row: InviteRow = {
    ...{ id, teamId: team.id, role, about: about.slice(0, 200), hash: hash.replace("sha256:", ""), by: facts.by.id },
    ...{ createdAtMs: now, expiresAtMs, usedAtMs: null },
  };
  // Those that were used or forgotten go when the next one comes.
  const gone = ofTeam.filter((invite) => !isOpen(facts, invite));
  return {
    writes: { invites: [row], goneInvites: gone.map((invite) => invite.id) },
    ...{ action: "invite.add", object: id, team: slug, detail: { role, about: row.about } },
    result: { id, secret, expiresAtMs },
  };
}

export function removeInvite(facts: PlanFacts, slug: string, id: string): Plan<void> {
  const team = facts.teamOf(slug);
  const invite = facts.book.invites.get(id);
  if (invite?.teamId !== team.id) throw noInvite();
  if (!mayManage(facts.standingOf(facts.by, team), invite.role))
    throw forbidden("this takes more than you are in the team");
  return { writes: { goneInvites: [id] }, action: "invite.remove", object: id, team: slug, result: undefined };
}

/** Throws PERSON_UNKNOWN for one that is not good any more. */
export function readInvite(facts: PlanFacts, secret: string): OpenInvite {
  const { teamId, role } = findInvite(facts, secret);
  return { ...namesOf(facts.book.teams.get(teamId)), role };
}

/** Needs no right but the secret. The audit names the new membership as the actor. */
export function acceptInvite(facts: PlanFacts, answer: InviteAnswer): Plan<Joined> {
  const invite = findInvite(facts, answer.secret);
  const team = facts.book.teams.get(invite.teamId) ?? unknown("there is no such invitation");
  const { user, isNew } = whoJoins(facts, answer);
  if (facts.book.membersOf(user.id).some((member) => member.team.id === team.id))
    throw conflict(`${user.name} is in ${team.slug} already`);
  const member = facts.newMember(user, team, invite.role);
  const pat = answer.withToken === false ? undefined : facts.newPat(member.id, "first", { days: firstTokenDays });
  return {
    writes: {
      users: isNew ? [user] : [],
      memberships: [member],
      pats: pat === undefined ? [] : [pat.row],
      invites: [{ ...invite, usedAtMs: facts.clock.now() }],
    },
    ...{ action: "invite.accept", object: invite.id, team: team.slug, actor: member.id },
    detail: { user: user.name, role: invite.role, isNew },
    passwords: isNew ? toPasswords(user, answer.passwordHash) : [],
    result: { user: user.name, userId: user.id, team: team.slug, membership: member.id, made: pat?.made },
  };
}

function isOpen(facts: PlanFacts, { usedAtMs, expiresAtMs }: InviteRow): boolean {
  return usedAtMs === null && expiresAtMs > facts.clock.now();
}

/**
 * An invitation that can still be accepted. Throws PERSON_UNKNOWN, in the same words for one that never was, was used,
 * is too old, or whose maker may not invite any more.
 */
export function findInvite(facts: PlanFacts, secret: string): InviteRow {
  const hash = facts.hashToken(secret).replace("sha256:", "");
  const found = facts.book.inviteWith(hash);
  const team = facts.book.teams.get(found?.teamId ?? "");
  if (found === undefined || team === undefined || !isOpen(facts, found)) throw noInvite();
  if (!facts.mayStillManage(found.by, team, found.role)) throw noInvite();
  return found;
}

function whoJoins(
  facts: PlanFacts,
  { user: id, name }: InviteAnswer,
): { readonly user: UserRow; readonly isNew: boolean } {
  if (id === null) {
    if (name === undefined) throw conflict("a name for the account is missing", "Give `name`, or sign in first.");
    return { user: facts.newUser(name, "user"), isNew: true };
  }
  const user = facts.book.users.get(id);
  if (user?.status !== "active") throw forbidden("only a user of the database may accept an invitation");
  return { user, isNew: false };
}

function noInvite(): ReturnType<typeof conflict> {
  return unknown("there is no such invitation", "It may have been used, taken back, or be older than 72 hours.");
}

function toPasswords({ id: userId, createdAtMs: changedAtMs }: UserRow, hash?: string): readonly PasswordRow[] {
  return hash === undefined ? [] : [{ userId, hash, changedAtMs }];
}

function namesOf(team: TeamRow | undefined): Pick<OpenInvite, "team" | "title"> {
  return { team: team?.slug ?? "", title: team?.title ?? "" };
}
