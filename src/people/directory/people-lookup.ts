import type { PrincipalId } from "../../kernel/ids.ts";
import { randomId } from "../../kernel/text/random-id.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { MembershipRow, PatRow, TeamRole, TeamRow, UserRow } from "../../store/people-rows.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { ChangeActor } from "./change-queue.ts";
import type { Member } from "./books/member.ts";
import type { TeamDirectory } from "./team-directory.ts";

/** A token that was just made: the only time that anybody sees it. */
export interface MadeToken {
  readonly id: string;
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface PeopleLookupDeps {
  readonly directory: Pick<TeamDirectory, "book" | "byId">;
  readonly clock: Pick<Clock, "now">;
  /** Whether a text can be the name of a user or a team: as names of servers are. */
  readonly isName: (text: string) => boolean;
  readonly isScope: (text: string) => boolean;
  /** A new token that begins so, and `sha256:` with its hash. */
  readonly createToken: (prefix: string) => { readonly token: string; readonly hash: string };
  /** In the same form. */
  readonly hashToken: (token: string) => string;
  /** Whether the configuration sets something for a team of this name. */
  readonly isTeamOfConfig: (slug: string) => boolean;
}

/** What a new token is limited to. */
export interface TokenLimits {
  readonly days: number;
  readonly scopes?: readonly string[] | undefined;
  readonly only?: readonly string[] | undefined;
  readonly profile?: string | undefined;
}

/** Of one membership: more are a program that forgets the ones it has. */
export const mostTokens = 100;
/** A token for longer is one that is forgotten. */
export const mostTokenDays = 365;
/** Servers that a token can be for: a person who needs more wants one for all. */
const mostServers = 100;
const dayMs = 86_400_000;

export type PeopleLookup = ReturnType<typeof createPeopleLookup>;

/** What a change is planned with, and who makes it. */
export type PlanFacts = PeopleLookup & { readonly by: ChangeActor };

/** What plans ask and make. Everything throws PERSON_UNKNOWN, PEOPLE_CONFLICT, FORBIDDEN or REVISION_MISMATCH. */
export function createPeopleLookup(deps: PeopleLookupDeps) {
  const { directory, clock, createToken, hashToken, isTeamOfConfig } = deps;
  return {
    ...{ book: directory.book, clock, hashToken, isTeamOfConfig, newSecret: createToken },
    ...createLookUps(deps),
    ...createNewRows(deps),
  };
}

/** Who there is, and what they may do. */
function createLookUps({ directory }: Pick<PeopleLookupDeps, "directory">) {
  const { book } = directory;

  /** By name or by id. */
  function userOf(name: string): UserRow {
    const found = book.users.get(name) ?? book.userNamed(name);
    return found ?? unknown(`there is no user ${quote(name)}`, "`toolyard user list` lists them.");
  }

  function teamOf(slug: string): TeamRow {
    return book.teamOf(slug) ?? unknown(`there is no team ${quote(slug)}`, "`toolyard team list` lists them.");
  }

  /** The user's membership in a team, or in the only one. */
  function memberOf(user: UserRow, team: string | undefined): Member {
    const theirs = book.membersOf(user.id);
    const chosen = team === undefined ? theirs : theirs.filter((member) => member.team.id === teamOf(team).id);
    if (chosen.length === 1 && chosen[0] !== undefined) return chosen[0];
    if (chosen.length === 0) unknown(`${user.name} is not in ${team ?? "any team"}`, "`toolyard team members` adds.");
    throw conflict(`${user.name} is in several teams`, "Say which one with --team.");
  }

  /** By the id of the membership, or the name of the user. */
  function memberIn(team: TeamRow, given: string): Member {
    const found = book.members.get(given);
    if (found?.team.id === team.id) return found;
    const named = book.userNamed(given);
    const member = book.membersOf(named?.id ?? "").find((one) => one.team.id === team.id);
    return member ?? unknown("there is no such member in the team", "`toolyard team members` lists them.");
  }

  function isAdmin({ user, isAdmin: isAdminElsewhere }: Pick<ChangeActor, "user" | "isAdmin">): boolean {
    if (user === null) return isAdminElsewhere;
    const row = book.users.get(user);
    return row?.role === "admin" && row.status === "active";
  }

  function standingOf(by: ChangeActor, team: TeamRow): Standing {
    if (isAdmin(by)) return "gateway";
    const member = book.members.get(by.id);
    return member?.principal !== undefined && member.team.id === team.id ? member.row.role : undefined;
  }

  return {
    userOf,
    teamOf,
    memberOf,
    memberIn,
    isAdmin,
    standingOf,
    /** Whether the author of an invitation could make it today. */
    mayStillManage(by: string, team: TeamRow, role: TeamRole): boolean {
      if (by === "owner") return true;
      const elsewhere = directory.byId(by as PrincipalId)?.roles.includes("admin") === true;
      const user = book.members.get(by)?.user.id ?? null;
      const actor = { id: by, user, isAdmin: elsewhere, via: "", ip: null };
      return mayManage(standingOf(actor, team), role);
    },
    /** Somebody has to be left who may do everything, and has a team to come with. `goneTeam` does not count. */
    keepAdmin(user: UserRow, isGone: boolean, goneTeam?: string): void {
      if (!isGone || user.role !== "admin" || user.status !== "active") return;
      const comes = (id: string): boolean => book.membersOf(id).some(({ team }) => team.id !== goneTeam);
      const isOther = ({ id, role, status }: UserRow): boolean =>
        id !== user.id && role === "admin" && status === "active" && comes(id);
      if (![...book.users.values()].some(isOther))
        throw conflict(`${user.name} is the last admin`, "Make another one first: `toolyard user add NAME --admin`.");
    },
  };
}

/** Rows that are new. */
function createNewRows({ directory, clock, createToken, ...given }: PeopleLookupDeps) {
  const { book } = directory;

  /** Names stand in ids, paths and audits: they are as those of servers, in lower case, so that no two look alike. */
  function toName(text: string): string {
    if (given.isName(text) && text === text.toLowerCase() && !/^[a-z]_[0-9a-z]{26}$/.test(text)) return text;
    throw conflict(`${quote(text)} is no name`, "Use lower-case letters, digits, dots, dashes and underscores.");
  }

  return {
    toName,
    /** In lower case, as those of providers are compared. Two users with one address could not be told apart by it. */
    toEmail(text: string, { id }: Pick<UserRow, "id">): string {
      const email = text.trim().toLowerCase();
      if (email !== "" && !isMailAddress(email))
        throw conflict(`${quote(text)} is no address`, "Write it as name@example.com.");
      const other = [...book.users.values()].find((user) => user.id !== id && user.email?.toLowerCase() === email);
      if (email !== "" && other !== undefined) throw conflict(`${other.name} has this address already`, "");
      return email;
    },
    newMember: (user: UserRow, team: TeamRow, role: TeamRole): MembershipRow => {
      const { members: most } = team.limits;
      if (most !== undefined && book.membersIn(team.id).length >= most)
        throw conflict(`${team.slug} has ${most} members, and may not have more`, "An admin of the gateway sets it.");
      const ids = { id: randomId("m_"), teamId: team.id, userId: user.id };
      return { ...ids, role, createdAtMs: clock.now(), revision: 1 };
    },
    newPat(
      membershipId: string,
      name: string,
      limits: TokenLimits,
    ): { readonly row: PatRow; readonly made: MadeToken } {
      const { days, scopes = [], only, profile } = limits;
      if (!Number.isInteger(days) || days < 1 || days > mostTokenDays)
        throw conflict(`a token is valid for 1 to ${mostTokenDays} days`, "Give another number of days.");
      const noScope = scopes.find((scope) => !given.isScope(scope));
      if (noScope !== undefined)
        throw conflict(
          `there is no scope ${quote(noScope)}`,
          "Use mcp:read, mcp:tools:execute, mcp:admin or mcp:approve.",
        );
      if (only !== undefined && (only.length === 0 || only.length > mostServers || !only.every(given.isName)))
        throw conflict(`a token is for 1 to ${mostServers} servers, or for all`, "Name servers by their slugs.");
      const { token, hash } = createToken("ty_pat_");
      const [id, now] = [randomId("p_"), clock.now()];
      const expiresAtMs = now + days * dayMs;
      const limit = { scopes: [...new Set(scopes)], only: only ?? null, ...(profile === undefined ? {} : { profile }) };
      const about = { name: name.slice(0, 100), ...limit };
      const times = { createdAtMs: now, expiresAtMs, usedAtMs: null };
      return {
        row: { id, membershipId, hash: hash.replace("sha256:", ""), ...about, ...times },
        made: { id, token, expiresAtMs },
      };
    },
    newTeam(slug: string, title: string): TeamRow {
      if (book.teamOf(slug) !== undefined) throw conflict(`there is a team ${slug} already`);
      const about = { slug: toName(slug), title: title.slice(0, 100), limits: {} };
      return { id: randomId("t_"), ...about, createdAtMs: clock.now(), revision: 1 };
    },
    newUser(name: string, role: UserRow["role"]): UserRow {
      if (book.userNamed(name) !== undefined) throw conflict(`there is a user ${name} already`);
      return { id: randomId("u_"), name: toName(name), role, status: "active", createdAtMs: clock.now(), revision: 1 };
    },
  };
}

/** The row as it is changed. Throws where somebody else changed it since it was read. */
export function revise<Row extends { readonly revision: number }>(
  row: Row,
  expected: number | undefined,
  change: Partial<Row>,
): Row {
  requireRevision(row, expected);
  return { ...row, ...change, revision: row.revision + 1 };
}

/** Throws REVISION_MISMATCH. */
export function requireRevision({ revision }: { readonly revision: number }, expected: number | undefined): void {
  if (expected !== undefined && expected !== revision)
    throw new GatewayError("REVISION_MISMATCH", "somebody else changed it since it was read", {
      data: { revision, expected },
    });
}

export function unknown(message: string, hint?: string): never {
  throw new GatewayError("PERSON_UNKNOWN", message, hint === undefined ? {} : { hint });
}

export function conflict(message: string, hint?: string): GatewayError {
  return new GatewayError("PEOPLE_CONFLICT", message, hint === undefined ? {} : { hint });
}

export function forbidden(message: string): GatewayError {
  return new GatewayError("FORBIDDEN", message);
}

export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

/** Whether a text has the form of an address; its owner is known from the provider that vouches for it. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(text);
}

/** What somebody is to a team. `gateway` is above all teams: an admin of the gateway, or its owner. */
type Standing = "gateway" | TeamRole | undefined;

/** What one may be to do something in a team, from little to much. */
const order = ["member", "admin", "owner", "gateway"] as const;

export function isAtLeast(standing: Standing, least: (typeof order)[number]): boolean {
  return standing !== undefined && order.indexOf(standing) >= order.indexOf(least);
}

/**
 * Whether somebody may give a role in a team, or take it away: admins of a team manage its members, its owners manage
 * its admins, and another owner is made by handing the team over alone.
 */
export function mayManage(standing: Standing, role: TeamRole): boolean {
  if (standing === "gateway") return true;
  if (standing === "owner") return role !== "owner";
  return standing === "admin" && role === "member";
}
