import type { ProviderSettings } from "../../../config/rows/provider-rows.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { IdentityRow } from "../../../store/access-rows.ts";
import type { MembershipRow, TeamRole, TeamRow, UserRow } from "../../../store/people-rows.ts";
import type { Plan } from "../change-queue.ts";
import { findInvite } from "./invite-plans.ts";
import { conflict, revise, type PeopleLookup, type PlanFacts, isAtLeast } from "../people-lookup.ts";

/** Somebody who logged in at an identity provider, in its words, which have been checked. */
export interface ComingPerson {
  /** The provider's name in the settings. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** What people recognise the account by. */
  readonly label: string;
  /** What a new user could be called. */
  readonly name: string;
  /** In lower case, and only where the provider has verified it. */
  readonly email: string | undefined;
  readonly groups: readonly string[];
}

/** By what somebody may come in who is not known yet. */
export type Entry =
  | { readonly kind: "user"; readonly userId: string }
  /** For a person who is not known: others join on the page of the invitation. */
  | { readonly kind: "invite"; readonly secret: string }
  | { readonly kind: "setup"; readonly name: string; readonly team: string };

export interface SignIn {
  readonly person: ComingPerson;
  readonly rules: Pick<ProviderSettings, "provision" | "domains" | "teams" | "groups" | "adminGroups" | "linkByEmail">;
  /** The row of this account at the provider. */
  readonly known: IdentityRow | undefined;
  readonly entry: Entry | undefined;
  /** The set-up link that the entry comes from: used up together with what it gives. */
  readonly spentSetup?: string | undefined;
}

/** Who it is. */
export interface SignedIn {
  readonly user: UserRow;
  /** How the user came to be known: undefined where nothing had to be decided. */
  readonly by: "entry" | "email" | "provision" | undefined;
}

/** Names with a number behind them, until one is free. */
const mostNames = 1_000;
const longestName = 40;

/**
 * Who somebody is who logged in at an identity provider, with what its groups give and take. Throws IDENTITY_UNKNOWN
 * too; then a set-up link stays good. Where nothing changes, the plan has no writes.
 */
export function signIn(facts: PlanFacts, given: SignIn): Plan<SignedIn> {
  const placing = createPlacing(facts);
  const { person, known, entry } = given;
  const { user: found, by } = createRecognition(facts)(given);
  if (found.status !== "active") throw unknownPerson("your account here is disabled");
  const isNew = !facts.book.users.has(found.id);
  const changed = placing.withRole(found, given);
  const user = changed === found || isNew ? changed : revise(found, undefined, changed);
  const places = placing.placesOf(user, given);
  const invited = entry?.kind === "invite" && by === "entry" ? accept(facts, entry.secret, user, places) : undefined;
  const now = facts.clock.now();
  const { provider, issuer, subject, label } = person;
  // The account with which a user came into being is as old as the user: a reset leaves it.
  const createdAtMs = isNew ? user.createdAtMs : now;
  const identity = { issuer, subject, userId: user.id, label, createdAtMs, seenAtMs: now };
  const isLinked = known?.userId === user.id;
  const { teams, memberships, goneMemberships, full } = places;
  const joined = memberships.map(({ teamId, role }) => `${slugOf(facts, teamId, teams)}:${role}`);
  const left = goneMemberships.map((id) => facts.book.members.get(id)?.team.slug ?? "");
  return {
    writes: {
      ...(isNew || user !== found ? { users: [user] } : {}),
      ...(teams.length > 0 ? { teams } : {}),
      ...(memberships.length > 0 ? { memberships } : {}),
      ...(goneMemberships.length > 0 ? { goneMemberships } : {}),
      ...(isLinked ? {} : { identities: [identity] }),
      ...(invited === undefined ? {} : { invites: [{ ...invited.invite, usedAtMs: now }] }),
    },
    action: isNew ? "user.provision" : isLinked ? "user.groups" : "identity.link",
    object: user.name,
    actor: user.name,
    ...(invited?.team === undefined ? {} : { team: invited.team.slug }),
    detail: { provider, issuer, subject, by, role: user.role, joined, left, full },
    ...(given.spentSetup === undefined ? {} : { spentSetup: given.spentSetup }),
    result: { user, by },
  };
}

/** What an invitation gives stays, whatever the groups say. */
function accept(facts: PlanFacts, secret: string, user: UserRow, places: Places) {
  const invite = findInvite(facts, secret);
  const team = facts.book.teams.get(invite.teamId);
  if (team === undefined || facts.book.membersOf(user.id).some((member) => member.team.id === team.id))
    return { invite, team };
  const given = places.memberships.findIndex(({ teamId }) => teamId === team.id);
  if (given !== -1) places.memberships.splice(given, 1);
  places.memberships.push(facts.newMember(user, team, invite.role));
  return { invite, team };
}

function slugOf(facts: PlanFacts, teamId: string, made: readonly TeamRow[]): string {
  return facts.book.teams.get(teamId)?.slug ?? made.find(({ id }) => id === teamId)?.slug ?? teamId;
}

/** Which user somebody is, or becomes. */
function createRecognition(facts: PeopleLookup) {
  const { book } = facts;

  function freeName(wanted: string): string {
    const base = toUserName(wanted);
    const names = [base, ...Array.from({ length: mostNames }, (_, index) => `${base}-${index + 2}`)];
    const free = names.find((name) => book.userNamed(name) === undefined);
    if (free === undefined) throw conflict(`there are too many users called ${base}`);
    return free;
  }

  function newUser({ name, email }: ComingPerson): UserRow {
    return { ...facts.newUser(freeName(name), "user"), ...(email === undefined ? {} : { email }) };
  }

  /** The one user with this address; undefined where there are several. */
  function userWith(email: string | undefined): UserRow | undefined {
    if (email === undefined) return undefined;
    const found = [...book.users.values()].filter((user) => user.email?.toLowerCase() === email);
    return found.length === 1 ? found[0] : undefined;
  }

  /** The user that was chosen by a link, or by who is logged in. */
  function chosen(userId: string, linked: UserRow | undefined): SignedIn {
    const user = facts.userOf(userId);
    if (linked !== undefined && linked.id !== user.id)
      throw conflict("this account at the provider is another user's here", "");
    return { user, by: linked === undefined ? "entry" : undefined };
  }

  return ({ person, rules, known, entry }: SignIn): SignedIn => {
    const linked = book.users.get(known?.userId ?? "");
    if (entry?.kind === "user") return chosen(entry.userId, linked);
    if (entry?.kind === "setup") {
      // A person who is known already does not become an owner by a code that was left over.
      if (book.users.size > 0) throw conflict("there is an admin already", "");
      const { email } = person;
      const admin = facts.newUser(entry.name, "admin");
      return { user: { ...admin, ...(email === undefined ? {} : { email }) }, by: "entry" };
    }
    if (linked !== undefined) return { user: linked, by: undefined };
    const same = rules.linkByEmail ? userWith(person.email) : undefined;
    // A person who is known by their address is asked on the invitation's page, as everybody is who is known.
    if (entry?.kind === "invite" && same === undefined) return { user: newUser(person), by: "entry" };
    if (known !== undefined && entry === undefined)
      throw unknownPerson("your account here was removed, or this way into it was taken away");
    if (same !== undefined) return { user: same, by: "email" };
    if (!isProvisioned(person, rules)) throw unknownPerson("you have no account here");
    return { user: newUser(person), by: "provision" };
  };
}

interface Places {
  readonly teams: TeamRow[];
  readonly memberships: MembershipRow[];
  readonly goneMemberships: string[];
  /** Teams that the user would be in, but that are full. */
  readonly full: string[];
}

interface Wanted {
  readonly slug: string;
  readonly role: TeamRole;
  readonly givenBy: string;
}

/** What the provider's groups give and take. What somebody here gave is not touched. */
function createPlacing(facts: PeopleLookup) {
  const { book } = facts;

  /** The last admin of the gateway stays one, and keeps a team to come with. */
  function isLastAdmin(user: UserRow): boolean {
    try {
      facts.keepAdmin(user, true);
      return false;
    } catch {
      return true;
    }
  }

  function join(places: Places, user: UserRow, { slug, role, givenBy }: Wanted): void {
    const known = book.teamOf(slug);
    const team = known ?? facts.newTeam(slug, "");
    const { members: most } = team.limits;
    if (most !== undefined && book.membersIn(team.id).length >= most) return void places.full.push(slug);
    if (known === undefined) places.teams.push(team);
    places.memberships.push({ ...facts.newMember(user, team, role), ...(givenBy === "" ? {} : { givenBy }) });
  }

  return {
    withRole(user: UserRow, { person, rules }: SignIn): UserRow {
      const isAdmin = rules.adminGroups.some((group) => person.groups.includes(group));
      if (isAdmin && user.role === "user") return { ...user, role: "admin", roleFrom: person.provider };
      const isGiven = user.role === "admin" && user.roleFrom === person.provider;
      return !isAdmin && isGiven && !isLastAdmin(user) ? { ...user, role: "user", roleFrom: "" } : user;
    },
    placesOf(user: UserRow, signIn: SignIn): Places {
      const { provider } = signIn.person;
      const wanted = wantedTeams(signIn);
      const places: Places = { teams: [], memberships: [], goneMemberships: [], full: [] };
      const theirs = book.membersOf(user.id);
      for (const { row, team } of theirs) {
        const role = wanted.get(team.slug);
        wanted.delete(team.slug);
        if (row.givenBy !== provider || role === row.role) continue;
        const isLast = theirs.length - places.goneMemberships.length === 1;
        if (role !== undefined) places.memberships.push(revise(row, undefined, { role }));
        else if (!isLast || !isLastAdmin(user)) places.goneMemberships.push(row.id);
      }
      const { entry } = signIn;
      if (entry?.kind === "setup") {
        wanted.delete(entry.team);
        join(places, user, { slug: entry.team, role: "owner", givenBy: "" });
      }
      for (const [slug, role] of wanted) join(places, user, { slug, role, givenBy: provider });
      return places;
    },
  };
}

/** The teams that somebody with these groups is in, as the settings say; of several roles, the one that may most. */
function wantedTeams({ rules, person }: SignIn): Map<string, TeamRole> {
  const wanted = new Map<string, TeamRole>();
  const { groups } = rules;
  const given = person.groups.flatMap((group) => (Object.hasOwn(groups, group) ? [groups[group]] : []));
  for (const teams of [rules.teams, ...given])
    for (const [slug, role] of Object.entries(teams ?? {})) {
      const before = wanted.get(slug);
      if (before === undefined || isAtLeast(role, before)) wanted.set(slug, role);
    }
  return wanted;
}

function isProvisioned({ email, groups }: ComingPerson, rules: SignIn["rules"]): boolean {
  if (rules.provision === "domains") {
    const domain = email?.split("@").at(-1);
    return domain !== undefined && rules.domains.some((one) => one.toLowerCase() === domain);
  }
  if (rules.provision === "off") return false;
  return groups.some((group) => Object.hasOwn(rules.groups, group) || rules.adminGroups.includes(group));
}

function unknownPerson(message: string): GatewayError {
  return new GatewayError("IDENTITY_UNKNOWN", message);
}

/** A name as users have it here, whatever the provider calls somebody. */
function toUserName(text: string): string {
  const [local = ""] = text.split("@", 1);
  const plain = local
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
  return plain.slice(0, longestName) || "user";
}
