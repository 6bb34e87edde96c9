import type { Settings } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { MadeInvite } from "../../people/directory/plans/invite-plans.ts";
import type { SetupCode } from "../../people/authorization-server/accounts.ts";
import type { MadeToken } from "../../people/directory/people-lookup.ts";
import { teamRoles, type TeamLimits, type TeamRole, type UserRow } from "../../store/people-rows.ts";
import { linkAccount } from "./owner-accounts.ts";
import { findAccessTask, userIdOf, type AccessAnswer } from "./owner-access.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import type { TeamPeople } from "../people/team-people.ts";

/** What a command about people is answered with. */
export interface PeopleAnswer extends AccessAnswer {
  readonly users?: readonly UserLine[];
  readonly teams?: readonly TeamLine[];
  readonly members?: readonly MemberLine[];
  readonly tokens?: readonly TokenLine[];
  readonly invites?: readonly InviteLine[];
  /** Shown once. */
  readonly made?: MadeToken;
  /** A code that sets a password, shown once, and the gateway's address where that is configured. */
  readonly link?: SetupCode & { readonly publicUrl: string | null };
  /** Shown once. */
  readonly invited?: MadeInvite & { readonly publicUrl?: string | null };
  /** Of `people.standing`. */
  readonly standing?: PeopleStanding;
  /** How many tokens were revoked. */
  readonly revoked?: number;
}

/** What `toolyard doctor` looks at. */
export interface PeopleStanding {
  readonly publicUrl: string | null;
  /** How many addresses and ranges. */
  readonly trustedProxies: number;
  readonly providers: readonly { readonly name: string; readonly issuer: string }[];
  readonly users: number;
  /** Of the gateway, who may log in and are in a team. */
  readonly admins: number;
  /** Why people are refused; null where they are let in. */
  readonly refusal: string | null;
}

export interface UserLine {
  readonly name: string;
  readonly role: string;
  readonly status: string;
  readonly email?: string;
  readonly teams: readonly string[];
}

export interface TeamLine {
  readonly slug: string;
  readonly members: number;
}

export interface MemberLine {
  /** The principal's id, as calls and the audit name it. */
  readonly id: string;
  readonly user: string;
  readonly role: string;
  readonly tokens: number;
}

export interface TokenLine {
  readonly id: string;
  readonly user: string;
  readonly team: string;
  readonly name: string;
  readonly expires: string;
  /** The hour of its last use. */
  readonly used: string | null;
  readonly scopes: readonly string[];
  readonly only: readonly string[] | null;
}

export interface InviteLine {
  readonly id: string;
  readonly team: string;
  readonly role: string;
  readonly about: string;
  readonly expires: string;
  readonly used: boolean;
}

/** The members of the request `people`. A missing one is undefined. */
export interface PeopleRequest {
  readonly task: string;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
  readonly team?: string | undefined;
  readonly role?: string | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly days?: number | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly only?: readonly string[] | undefined;
  readonly limits?: TeamLimits | undefined;
  readonly about?: string | undefined;
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
  readonly email?: string | undefined;
}

const usualDays = 90;

type Task = (people: OwnersPeople, request: PeopleRequest) => Promise<PeopleAnswer>;

interface OwnersPeople {
  readonly book: TeamPeople["directory"]["book"];
  readonly changes: TeamPeople["asOwner"];
}

const userTasks: Readonly<Record<string, Task>> = {
  "user.add": async ({ changes }, { name, isAdmin = false, team, role, days = usualDays, email }) =>
    withToken(await changes.addUser({ name: need(name), isAdmin, team, role: toRole(role), days, email })),
  "user.email": async ({ changes }, { name, email = "" }) =>
    done(await changes.changeUser({ user: need(name), email })),
  "user.list": async ({ book }) => ({
    users: [...book.users.values()].map(({ id, name, role, status, email = "" }) => ({
      ...{ name, role, status },
      ...(email === "" ? {} : { email }),
      teams: book.membersOf(id).map(({ team }) => team.slug),
    })),
  }),
  "user.disable": async ({ changes }, { name }) =>
    done(await changes.changeUser({ user: need(name), status: "disabled" })),
  "user.enable": async ({ changes }, { name }) =>
    done(await changes.changeUser({ user: need(name), status: "active" })),
  "user.role": async ({ changes }, { name, role }) =>
    done(await changes.changeUser({ user: need(name), role: toUserRole(role) })),
  "user.reset": async ({ changes }, { name }) => ({ revoked: await changes.resetUser(need(name)) }),
  "user.remove": async ({ changes }, { name }) => done(await changes.removeUser(need(name))),
  "token.new": async ({ changes }, { user, name = "", days = usualDays, ...about }) =>
    withToken(
      await changes.addToken({
        ...{ user: need(user), team: about.team, name, days },
        ...{ scopes: about.scopes, only: about.only },
      }),
    ),
  "token.list": async ({ book }, { user }) => {
    const only = userIdOf({ book }, user);
    const tokens = [...book.tokens.values()].filter(({ member }) => only === undefined || member.user.id === only);
    return {
      tokens: tokens.map(({ row, member }) => ({
        id: row.id,
        user: member.user.name,
        team: member.team.slug,
        name: row.name,
        expires: toIso(row.expiresAtMs),
        used: row.usedAtMs === null ? null : toIso(row.usedAtMs),
        scopes: row.scopes,
        only: row.only,
      })),
    };
  },
  "token.revoke": async ({ changes }, { name }) => done(await changes.revokeToken(need(name))),
};

const teamTasks: Readonly<Record<string, Task>> = {
  "team.add": async ({ changes }, { name }) => withToken(await changes.addTeam({ slug: need(name) })),
  "team.remove": async ({ changes }, { name }) => done(await changes.removeTeam(need(name))),
  "team.limits": async ({ changes }, { name, limits }) => done(await changes.changeTeam({ team: need(name), limits })),
  "team.list": async ({ book }) => ({
    teams: [...book.teams.values()].map(({ id, slug }) => ({ slug, members: book.membersIn(id).length })),
  }),
  "team.members": async ({ book }, { name }) => ({
    members: book
      .membersIn(findTeam(book, name).id)
      .map(({ row, user, pats }) => ({ id: row.id, user: user.name, role: row.role, tokens: pats.size })),
  }),
  "team.member.add": async ({ changes }, { name, user, role }) => {
    await changes.addMember({ team: need(name), user: need(user), role: toRole(role) });
    return {};
  },
  "team.member.remove": async ({ changes }, { name, user }) =>
    done(await changes.removeMember({ team: need(name), member: need(user) })),
  "team.role": async ({ changes }, { name, user, role }) =>
    done(await changes.changeMember({ team: need(name), member: need(user) }, toRole(need(role)))),
  "team.owner": async ({ changes }, { name, user }) =>
    done(await changes.setOwner({ team: need(name), member: need(user) })),
  "invite.new": async ({ changes }, { team, role, about }) => ({
    invited: await changes.addInvite({ team: need(team), role: toRole(role), about }),
  }),
  "invite.list": async ({ book }, { team }) => {
    const only = team === undefined ? undefined : findTeam(book, team).id;
    const rows = [...book.invites.values()].filter(({ teamId }) => only === undefined || teamId === only);
    return {
      invites: rows.map(({ id, teamId, role, about, expiresAtMs, usedAtMs }) => ({
        ...{ id, team: book.teams.get(teamId)?.slug ?? "", role, about },
        ...{ expires: toIso(expiresAtMs), used: usedAtMs !== null },
      })),
    };
  },
  "invite.revoke": async ({ book, changes }, { name }) => {
    const id = need(name);
    const team = book.teams.get(book.invites.get(id)?.teamId ?? "");
    if (team === undefined) throw new GatewayError("PERSON_UNKNOWN", "there is no such invitation");
    return done(await changes.removeInvite(team.slug, id));
  },
};

const tasks: Readonly<Record<string, Task>> = { ...userTasks, ...teamTasks };

/** Carries out what the owner asks about people. Rejects with CONFIG_INVALID where they are not in the database. */
export async function askPeople(
  { team, config, unreadyPeople }: Pick<GatewayParts, "team" | "config" | "unreadyPeople">,
  request: JsonObject,
): Promise<PeopleAnswer> {
  const people = team?.people();
  if (people === undefined)
    throw new GatewayError("CONFIG_INVALID", "this gateway has no people of its own: it was started without --team", {
      hint: "Start it with `toolyard serve --team`, or name people in the configuration.",
    });
  const given = request as unknown as PeopleRequest;
  if (given.task === "people.standing")
    return { standing: toStanding(people.directory.book, config().settings, unreadyPeople()) };
  if (given.task === "user.link") {
    const link = await people.access.accounts.createLink(given.name, "owner");
    return { link: { ...link, publicUrl: config().settings.publicUrl ?? null } };
  }
  if (given.task === "user.account") {
    const { name, issuer, subject } = given;
    await linkAccount(people, { name: need(name), issuer: need(issuer), subject: need(subject) });
    return {};
  }
  const access = findAccessTask(String(given.task));
  if (access !== undefined) return await access(people, given);
  const task = Object.hasOwn(tasks, given.task) ? tasks[given.task] : undefined;
  if (task === undefined) throw new GatewayError("REQUEST_INVALID", "there is no such thing to do with people");
  const answer = await task({ book: people.directory.book, changes: people.asOwner }, given);
  const publicUrl = config().settings.publicUrl ?? null;
  return answer.invited === undefined ? answer : { ...answer, invited: { ...answer.invited, publicUrl } };
}

function toStanding(
  book: OwnersPeople["book"],
  { publicUrl, trustedProxies = [], auth }: Settings,
  refusal: string | undefined,
): PeopleStanding {
  const users = [...book.users.values()];
  const admins = users.filter(({ id, role, status }) => role === "admin" && status === "active" && inTeam(id));
  function inTeam(id: string): boolean {
    return book.membersOf(id).length > 0;
  }
  return {
    ...{ publicUrl: publicUrl ?? null, trustedProxies: trustedProxies.length },
    ...{ users: users.length, admins: admins.length },
    providers: Object.entries(auth.providers).map(([name, { issuer }]) => ({ name, issuer })),
    refusal: refusal ?? null,
  };
}

function findTeam(book: OwnersPeople["book"], name: string | undefined): { readonly id: string } {
  const slug = need(name);
  const team = book.teamOf(slug);
  if (team !== undefined) return team;
  throw new GatewayError("PERSON_UNKNOWN", `there is no team ${JSON.stringify(slug.slice(0, 100))}`);
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

function toUserRole(text: string | undefined): UserRow["role"] {
  if (text === "admin" || text === "user") return text;
  throw new GatewayError("PEOPLE_CONFLICT", "the role of a user is admin or user", {
    hint: "Give one of the two with --role.",
  });
}

function done(_nothing: void): PeopleAnswer {
  return {};
}

function withToken(made: MadeToken | undefined): PeopleAnswer {
  return made === undefined ? {} : { made };
}

function need(text: string | undefined): string {
  if (typeof text === "string" && text !== "") return text;
  throw new GatewayError("REQUEST_INVALID", "a name is missing");
}

function toRole(text: string = "member"): TeamRole {
  const role = teamRoles.find((known) => known === text);
  if (role !== undefined) return role;
  throw new GatewayError("PEOPLE_CONFLICT", `there is no role ${JSON.stringify(text.slice(0, 40))} in a team`, {
    hint: `Give one of these with --role: ${teamRoles.join(", ")}.`,
  });
}
