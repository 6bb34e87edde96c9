import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { MembershipRow, PatRow, PeopleWrites, TeamRole, TeamRow, UserRow } from "../../store/people-rows.ts";
import type { PeopleStore } from "../../store/record-store.ts";
import type { Member } from "./member-book.ts";
import type { TeamDirectory } from "./team-directory.ts";

/** A token that was just made: the only time that anybody sees it. */
export interface MadeToken {
  readonly id: string;
  readonly token: string;
  readonly expiresAtMs: number;
}

/**
 * What can be done with people. Each resolves when it is on the disk together with its entry in the audit, and in
 * force. Rejects with PERSON_UNKNOWN, PEOPLE_CONFLICT, and as the store does.
 */
export interface PeopleChanges {
  /** With a team, the user is put into it and gets a token. An admin's team is made where it is missing. */
  addUser(given: NewUser): Promise<MadeToken | undefined>;
  setStatus(name: string, status: UserRow["status"]): Promise<void>;
  addTeam(slug: string): Promise<void>;
  addMember(given: { readonly team: string; readonly user: string; readonly role: TeamRole }): Promise<void>;
  removeMember(given: { readonly team: string; readonly user: string }): Promise<void>;
  addToken(given: NewPat): Promise<MadeToken>;
  revokeToken(id: string): Promise<void>;
}

export interface NewUser {
  readonly name: string;
  readonly isAdmin: boolean;
  readonly team: string | undefined;
  readonly role: TeamRole;
  readonly days: number;
}

export interface NewPat {
  readonly user: string;
  /** May be left out where the user is in one team only. */
  readonly team: string | undefined;
  /** What its owner calls it. */
  readonly name: string;
  readonly days: number;
}

export interface PeopleChangesDeps {
  readonly directory: Pick<TeamDirectory, "book" | "apply">;
  readonly store: PeopleStore;
  readonly clock: Pick<Clock, "now">;
  /** Whether a text can be the name of a user or a team: as names of servers are. */
  readonly isName: (text: string) => boolean;
  /** A new token, and `sha256:` with its hash. */
  readonly createToken: () => { readonly token: string; readonly hash: string };
}

/** A change, what it is called in the audit, and what comes of it. */
interface Plan<Result> {
  readonly writes: PeopleWrites;
  readonly action: string;
  readonly object: string;
  readonly team?: string | undefined;
  readonly result: Result;
}

/** Of one membership: more are a program that forgets the ones it has. */
const mostTokens = 100;
/** A token for longer is one that nobody remembers. */
export const mostTokenDays = 365;
const dayMs = 86_400_000;
/** Gateways that change people at the same moment get past each other within these. */
const mostAttempts = 5;

export function createPeopleChanges({ directory, store, clock, ...given }: PeopleChangesDeps): PeopleChanges {
  const { book } = directory;
  const change = createQueue({ directory, store, clock });
  const { userOf, memberOf, keepAdmin, newPat, newTeam, planUser, planMember } = createPlans({ book, clock, ...given });

  return {
    addUser: async (given) => await change(() => planUser(given)),
    setStatus: async (name, status) =>
      await change(() => {
        const user = userOf(name);
        keepAdmin(user, status === "disabled");
        const action = status === "disabled" ? "user.disable" : "user.enable";
        return { writes: { users: [{ ...user, status }] }, action, object: name, result: undefined };
      }),
    addTeam: async (slug) =>
      await change(() => ({
        writes: { teams: [newTeam(slug)] },
        action: "team.add",
        object: slug,
        team: slug,
        result: undefined,
      })),
    addMember: async ({ team, user, role }) => await change(() => planMember(team, user, role)),
    removeMember: async ({ team, user: name }) =>
      await change(() => {
        const user = userOf(name);
        const member = memberOf(user, team);
        keepAdmin(user, book.membersOf(user.id).length === 1);
        const writes = { goneMemberships: [member.row.id] };
        return { writes, action: "team.member.remove", object: name, team, result: undefined };
      }),
    addToken: async ({ user: name, team, name: label, days }) =>
      await change(() => {
        const user = userOf(name);
        if (user.status !== "active")
          throw conflict(`${name} is disabled`, "`toolyard user enable` lets them in again.");
        const member = memberOf(user, team);
        if (member.pats.size >= mostTokens)
          throw conflict(`${name} has ${mostTokens} tokens already`, "Revoke those that nobody uses.");
        const { row, made } = newPat(member.row.id, label, days);
        return { writes: { pats: [row] }, action: "token.add", object: made.id, team: member.team.slug, result: made };
      }),
    revokeToken: async (id) =>
      await change(() => {
        const held = book.patOf(id) ?? unknown(`there is no token ${quote(id)}`, "`toolyard token list` lists them.");
        const team = held.member.team.slug;
        return { writes: { gonePats: [id] }, action: "token.revoke", object: id, team, result: undefined };
      }),
  };
}

/** What changes are made of, and what they must not do. Throws as they reject. */
function createPlans({
  book,
  clock,
  createToken,
  isName,
}: Pick<PeopleChangesDeps, "clock" | "createToken" | "isName"> & Pick<TeamDirectory, "book">) {
  /** Names stand in ids, paths and audits: they are as those of servers, in lower case, so that no two look alike. */
  function toName(text: string): string {
    if (isName(text) && text === text.toLowerCase()) return text;
    throw conflict(`${quote(text)} is no name`, "Use lower-case letters, digits, dots, dashes and underscores.");
  }

  function userOf(name: string): UserRow {
    return book.userNamed(name) ?? unknown(`there is no user ${quote(name)}`, "`toolyard user list` lists them.");
  }

  function teamOf(slug: string): TeamRow {
    return book.teamOf(slug) ?? unknown(`there is no team ${quote(slug)}`, "`toolyard team list` lists them.");
  }

  function memberOf(user: UserRow, team: string | undefined): Member {
    const theirs = book.membersOf(user.id);
    const chosen = team === undefined ? theirs : theirs.filter((member) => member.team.id === teamOf(team).id);
    if (chosen.length === 1 && chosen[0] !== undefined) return chosen[0];
    if (chosen.length === 0) unknown(`${user.name} is not in ${team ?? "any team"}`, "`toolyard team members` adds.");
    throw conflict(`${user.name} is in several teams`, "Say which one with --team.");
  }

  /** Somebody has to be left who may do everything. */
  function keepAdmin(user: UserRow, isGone: boolean): void {
    if (!isGone || user.role !== "admin" || user.status !== "active") return;
    const isOther = ({ id, role, status }: UserRow): boolean =>
      id !== user.id && role === "admin" && status === "active" && book.membersOf(id).length > 0;
    if (![...book.users.values()].some(isOther))
      throw conflict(`${user.name} is the last admin`, "Make another one first: `toolyard user add NAME --admin`.");
  }

  function newMember(user: UserRow, team: TeamRow, role: TeamRole): MembershipRow {
    return { id: newId("m_"), teamId: team.id, userId: user.id, role, createdAtMs: clock.now() };
  }

  function newPat(
    membershipId: string,
    name: string,
    days: number,
  ): { readonly row: PatRow; readonly made: MadeToken } {
    if (!Number.isInteger(days) || days < 1 || days > mostTokenDays)
      throw conflict(`a token is valid for 1 to ${mostTokenDays} days`, "Give another number with --days.");
    const { token, hash } = createToken();
    const [id, now] = [newId("p_"), clock.now()];
    const expiresAtMs = now + days * dayMs;
    const times = { createdAtMs: now, expiresAtMs, usedAtMs: null };
    return {
      row: { id, membershipId, name: name.slice(0, 100), hash: hash.replace("sha256:", ""), ...times },
      made: { id, token, expiresAtMs },
    };
  }

  function newTeam(slug: string): TeamRow {
    if (book.teamOf(slug) !== undefined) throw conflict(`there is a team ${slug} already`);
    return { id: newId("t_"), slug: toName(slug), createdAtMs: clock.now() };
  }

  function planUser({ name, isAdmin, team: slug, role, days }: NewUser): Plan<MadeToken | undefined> {
    if (book.userNamed(name) !== undefined) throw conflict(`there is a user ${name} already`);
    const about = { id: newId("u_"), name: toName(name), createdAtMs: clock.now() };
    const user: UserRow = { ...about, role: isAdmin ? "admin" : "user", status: "active" };
    const facts = { action: "user.add", object: name };
    if (slug === undefined) return { writes: { users: [user] }, ...facts, result: undefined };
    const known = book.teamOf(slug);
    const team = known ?? (isAdmin ? newTeam(slug) : teamOf(slug));
    const member = newMember(user, team, role);
    const { row, made } = newPat(member.id, "first", days);
    const teams = known === undefined ? [team] : [];
    return { writes: { users: [user], teams, memberships: [member], pats: [row] }, ...facts, team: slug, result: made };
  }

  function planMember(slug: string, name: string, role: TeamRole): Plan<void> {
    const [team, user] = [teamOf(slug), userOf(name)];
    if (book.membersOf(user.id).some((member) => member.team.id === team.id))
      throw conflict(`${name} is in ${slug} already`);
    const writes = { memberships: [newMember(user, team, role)] };
    return { writes, action: "team.member.add", object: name, team: slug, result: undefined };
  }

  return { userOf, memberOf, keepAdmin, newPat, newTeam, planUser, planMember };
}

type Carried = <Result>(plan: () => Plan<Result>) => Promise<Result>;

function createQueue({ directory, store, clock }: Omit<PeopleChangesDeps, "createToken" | "isName">): Carried {
  let last: Promise<unknown> = Promise.resolve();
  let isUncertain = false;

  async function carryOut<Result>(plan: () => Plan<Result>): Promise<Result> {
    // The one before may have been written although nobody said so.
    if (isUncertain) directory.apply(directory.book.differenceTo(await store.read()));
    isUncertain = false;
    const { writes, action, object, team = null, result } = plan();
    const about = { actor: "owner", via: "owner", team, action, object, outcome: "ok" as const, ip: null };
    isUncertain = true;
    await store.change(writes, { atMs: clock.now(), ...about, detail: "{}" });
    isUncertain = false;
    directory.apply(writes);
    return result;
  }

  /** What another gateway wrote meanwhile is read, and the change planned again. */
  async function insist<Result>(plan: () => Plan<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await carryOut(plan);
      } catch (error) {
        const isBehind = error instanceof GatewayError && error.code === "STORE_BEHIND";
        if (!isBehind || attempt === mostAttempts) throw error;
      }
    }
  }

  /** One after the other: each is planned with what the one before it left. */
  return async function change<Result>(plan: () => Plan<Result>): Promise<Result> {
    const mine = last.then(async () => await insist(plan));
    last = mine.catch(() => undefined);
    return await mine;
  };
}

function unknown(message: string, hint: string): never {
  throw new GatewayError("PERSON_UNKNOWN", message, { hint });
}

function conflict(message: string, hint?: string): GatewayError {
  return new GatewayError("PEOPLE_CONFLICT", message, hint === undefined ? {} : { hint });
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** 130 random bits. */
function newId(prefix: string): string {
  return prefix + Array.from(randomBytes(26), (byte) => alphabet[byte & 31]).join("");
}
