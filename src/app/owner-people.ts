import { GatewayError } from "../kernel/gateway-error.ts";
import type { JsonObject } from "../kernel/json-bytes.ts";
import type { MadeToken } from "../people/directory/people-changes.ts";
import { teamRoles, type TeamRole } from "../store/people-rows.ts";
import type { GatewayParts } from "./gateway-parts.ts";
import type { TeamPeople } from "./team-people.ts";

/** What a command about people is answered with. */
export interface PeopleAnswer {
  readonly users?: readonly UserLine[];
  readonly teams?: readonly TeamLine[];
  readonly members?: readonly MemberLine[];
  readonly tokens?: readonly TokenLine[];
  /** Shown once. */
  readonly made?: MadeToken;
}

export interface UserLine {
  readonly name: string;
  readonly role: string;
  readonly status: string;
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
}

/** The members of the request `people`. What is missing is undefined. */
export interface PeopleRequest {
  readonly task: string;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
  readonly team?: string | undefined;
  readonly role?: string | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly days?: number | undefined;
}

const usualDays = 90;

type Task = (people: TeamPeople, request: PeopleRequest) => Promise<PeopleAnswer>;

const tasks: Readonly<Record<string, Task>> = {
  "user.add": async ({ changes }, { name, isAdmin = false, team, role, days = usualDays }) =>
    withToken(await changes.addUser({ name: need(name), isAdmin, team, role: toRole(role), days })),
  "user.list": async ({ directory: { book } }) => ({
    users: [...book.users.values()].map(({ id, name, role, status }) => ({
      name,
      role,
      status,
      teams: book.membersOf(id).map(({ team }) => team.slug),
    })),
  }),
  "user.disable": async ({ changes }, { name }) => done(await changes.setStatus(need(name), "disabled")),
  "user.enable": async ({ changes }, { name }) => done(await changes.setStatus(need(name), "active")),
  "team.add": async ({ changes }, { name }) => done(await changes.addTeam(need(name))),
  "team.list": async ({ directory: { book } }) => {
    const counts = new Map<string, number>();
    for (const { team } of book.members.values()) counts.set(team.id, (counts.get(team.id) ?? 0) + 1);
    return { teams: [...book.teams.values()].map(({ id, slug }) => ({ slug, members: counts.get(id) ?? 0 })) };
  },
  "team.members": async ({ directory: { book } }, { name }) => {
    const slug = need(name);
    if (book.teamOf(slug) === undefined)
      throw new GatewayError("PERSON_UNKNOWN", `there is no team ${JSON.stringify(slug.slice(0, 100))}`);
    const members = [...book.members.values()].filter(({ team }) => team.slug === slug);
    return {
      members: members.map(({ row, user, pats }) => ({
        id: row.id,
        user: user.name,
        role: row.role,
        tokens: pats.size,
      })),
    };
  },
  "team.member.add": async ({ changes }, { name, user, role }) =>
    done(await changes.addMember({ team: need(name), user: need(user), role: toRole(role) })),
  "team.member.remove": async ({ changes }, { name, user }) =>
    done(await changes.removeMember({ team: need(name), user: need(user) })),
  "token.new": async ({ changes }, { user, team, name = "", days = usualDays }) =>
    withToken(await changes.addToken({ user: need(user), team, name, days })),
  "token.list": async ({ directory: { book } }, { user }) => ({
    tokens: [...book.tokens.values()]
      .filter(({ member }) => user === undefined || member.user.name === user)
      .map(({ row, member }) => ({
        id: row.id,
        user: member.user.name,
        team: member.team.slug,
        name: row.name,
        expires: new Date(row.expiresAtMs).toISOString(),
        used: row.usedAtMs === null ? null : new Date(row.usedAtMs).toISOString(),
      })),
  }),
  "token.revoke": async ({ changes }, { name }) => done(await changes.revokeToken(need(name))),
};

/** Carries out what the owner asks about people. Rejects with CONFIG_INVALID where they are not in the database. */
export async function askPeople({ team }: Pick<GatewayParts, "team">, request: JsonObject): Promise<PeopleAnswer> {
  const people = team?.people();
  if (people === undefined)
    throw new GatewayError("CONFIG_INVALID", "this gateway has no people of its own: it was started without --team", {
      hint: "Start it with `toolyard serve --team`, or name people in the configuration.",
    });
  const given = request as unknown as PeopleRequest;
  const task = Object.hasOwn(tasks, given.task) ? tasks[given.task] : undefined;
  if (task === undefined) throw new GatewayError("REQUEST_INVALID", "there is no such thing to do with people");
  return await task(people, given);
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
