import { isDeepStrictEqual } from "node:util";
import type { ServerConfig, ServerOverrides } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { type LoadLate, openOnce } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { followOthers } from "../../people/changes/change-writer.ts";
import type { Directory } from "../../people/directory/directory.ts";
import type { Member } from "../../people/directory/books/member.ts";
import { createPeopleChanges, type PeopleChanges } from "../../people/directory/people-changes.ts";
import { createDatabaseContact, type DatabaseContact } from "../../people/directory/database-contact.ts";
import {
  createTeamDirectory,
  type TeamDirectory,
  type TeamDirectoryOptions,
} from "../../people/directory/team-directory.ts";
import { createToken, hashToken } from "../../people/identity/token.ts";
import type { ChangeActor } from "../../people/directory/change-queue.ts";
import type { InstalledChanges } from "../../servers/instance/fleet/fleet.ts";
import { installedId, personalId } from "../../servers/instance/fleet/desired-instances.ts";
import type { PeopleWrites } from "../../store/people-rows.ts";
import type { RecordStore } from "../../store/record-store.ts";
import type { GatewayAudit } from "../records/audit-wing.ts";
import { alsoLoggingOut, openTeamAccess, toFetchToken, type TeamAccess } from "./team-access.ts";
import { openTeamInstalls, type TeamInstalls, type TeamInstallsDeps } from "./team-installs.ts";
import type { MemberIndex } from "../../people/directory/books/member-index.ts";
import type { CheckForeignToken } from "../../people/identity/foreign-tokens.ts";

/** The people of the database and what they installed, read and ready. */
export interface TeamPeople {
  readonly directory: TeamDirectory;
  /** What somebody may do with them. */
  readonly changes: (by: ChangeActor) => PeopleChanges;
  readonly installs: TeamInstalls;
  readonly access: TeamAccess;
  /** What this person's team installed: the same array until that changes. */
  serversOf(id: PrincipalId): readonly ServerConfig[];
  /** What this person set for a server of the configuration file. */
  ownValues(id: PrincipalId, slug: string): ServerOverrides | undefined;
  /** Writes down which tokens and secrets were used. */
  close(): Promise<void>;
}

export interface TeamPeopleDeps extends Pick<
  TeamInstallsDeps,
  "config" | "keyRing" | "directory" | "isName" | "valuesPage"
> {
  readonly store: Pick<RecordStore, "people" | "installs" | "access" | "health" | "onHealth">;
  /** Told of logins that were refused. */
  readonly deny: GatewayAudit["deny"];
  /** People of the configuration. */
  readonly beside: Directory;
  readonly clock: Clock;
  /** Given, because loading it with this file would cost each start of a gateway a file. */
  readonly isScope: (text: string) => boolean;
  /** Of personal tokens. */
  readonly isTokenScope: (text: string) => boolean;
  readonly loadLate: LoadLate;
  readonly log: Log;
  /** What runs has to follow this. */
  readonly onServers: (changes: InstalledChanges) => Promise<void>;
  /** Somebody is no member of a team any more: nothing may stay of the instances that they had there. */
  readonly onGone: (owner: PrincipalId, instances: readonly InstanceId[]) => void;
}

/** Uses are written together. Those of the last seconds are lost when the process is killed. */
const usesMs = 5_000;
const none: readonly never[] = Object.freeze([]);

/** Reads the people and their servers. Rejects with STORE_UNAVAILABLE where they cannot be read. */
export async function openTeamPeople(deps: TeamPeopleDeps): Promise<TeamPeople> {
  const { beside, config, clock, isName, isTokenScope, log } = deps;
  const store = deps.store.people;
  const contact = deps.store.access.isShared ? openContact(deps, () => directory.tell()) : undefined;
  const directory: TeamDirectory = createTeamDirectory({
    ...{ beside, config, clock, contact, fetchToken: toFetchToken(deps.store.access) },
    foreign: createTeamForeign(deps, () => directory.book),
  });
  const { book } = directory;
  let installs: TeamInstalls | undefined;

  /** All instances that a member can have had, whether or not they exist now. */
  function instancesOf({ row, team }: Member): readonly InstanceId[] {
    const owner = row.id as PrincipalId;
    return [
      ...config().servers.map((server) => personalId(server, owner, team.slug)),
      ...(installs?.servers.of(team.id) ?? none).map((server) => installedId(server, owner)),
    ];
  }

  function apply(writes: PeopleWrites): void {
    const leaving = new Map(leavingWith(writes, book).map((member) => [member, instancesOf(member)]));
    const ruled = (writes.teams ?? none).filter(
      ({ id, rules = none }) => !isDeepStrictEqual(rules, book.teams.get(id)?.rules ?? none),
    );
    directory.apply(writes);
    // A server's rules are part of it: they are in force when the change is answered.
    for (const { id } of ruled) installs?.followRules(id);
    for (const [{ row }, instances] of leaving) deps.onGone(row.id as PrincipalId, instances);
    for (const id of writes.goneTeams ?? none) installs?.forgetTeam(id);
    if (leaving.size > 0) installs?.forgetMembers((id) => book.members.has(id));
  }

  const people = { book, apply, byId: directory.byId };
  // Before they are read, so that changes made meanwhile are told.
  const stopListening = followOthers({
    ...{ store, clock, apply },
    readAll: async () => apply(book.differenceTo(await store.read())),
    onFailed: (error) =>
      log.warn({ component: "people", err: error }, "what another gateway changed cannot be read: it is tried again"),
  });
  apply(await store.read());
  const access = await openTeamAccess({ ...deps, store: deps.store.access, directory, apply });
  installs = await openInstalls(deps, book);
  const opened = installs;
  if (book.users.size === 0)
    log.warn(
      { component: "people" },
      "nobody may use this gateway yet: `toolyard user link` prints a link that makes the first admin",
    );
  const uses = noteUses(directory, deps);

  const make = createPeopleChanges({
    ...{ directory: people, store, clock, isName, isScope: isTokenScope, createToken, hashToken },
    isTeamOfConfig: (slug) => config().people.teams.has(slug),
  });
  const changes = alsoLoggingOut(make, directory, access);

  return {
    ...{ directory, installs: opened, access, changes },
    serversOf(id) {
      const member = book.members.get(id);
      return member === undefined ? none : opened.servers.of(member.team.id);
    },
    ownValues(id, slug) {
      const member = book.members.get(id);
      const server = member && config().servers.find((known) => known.slug === slug);
      return server && opened.servers.ownValues(server.key, { id, teamId: member.team.id });
    },
    async close() {
      contact?.stop();
      stopListening();
      access.stop();
      directory.stop();
      await Promise.all([uses.close(), opened.close()]);
    },
  };
}

function leavingWith(
  { goneMemberships, goneUsers, goneTeams }: PeopleWrites,
  book: TeamDirectory["book"],
): readonly Member[] {
  const ofTeams = new Set(goneTeams);
  return [
    ...(goneMemberships ?? none).flatMap((id) => book.members.get(id) ?? none),
    ...(goneUsers ?? none).flatMap((id) => book.membersOf(id)),
    ...(ofTeams.size === 0 ? none : [...book.members.values()].filter(({ team }) => ofTeams.has(team.id))),
  ];
}

/** Writes down which tokens were used, a few seconds later. */
function noteUses({ takeUses }: Pick<TeamDirectory, "takeUses">, { store, clock, log }: TeamPeopleDeps) {
  async function write(): Promise<void> {
    const uses = takeUses();
    if (uses.length === 0) return;
    await store.people
      .use(uses)
      .catch((error: unknown) => log.warn({ component: "people", err: error }, "uses of tokens are not noted"));
  }

  function again(): void {
    void write();
    cancel = clock.after(usesMs, again);
  }
  let cancel = clock.after(usesMs, again);

  return {
    async close(): Promise<void> {
      cancel();
      await write();
    },
  };
}

/** A database that others write to says who was taken away there. */
function openContact({ store, clock, config, log }: TeamPeopleDeps, tell: () => void): DatabaseContact {
  return createDatabaseContact({
    ...{ store, clock },
    longestMs: () => config().settings.databaseSilenceMs,
    onChange(isCut) {
      if (isCut)
        log.error({ component: "people" }, "the database is away for too long: nobody is let in until it is back");
      else log.info({ component: "people" }, "the database is back: people are let in again");
      tell();
    },
  });
}

async function openInstalls(deps: TeamPeopleDeps, book: TeamDirectory["book"]): Promise<TeamInstalls> {
  return await openTeamInstalls({
    ...deps,
    store: deps.store.installs,
    people: book,
    isShared: deps.store.access.isShared,
    onTouched: async ({ teams, installations }) =>
      await deps.onServers({
        teams: [...teams].flatMap((id) => book.teams.get(id)?.slug ?? none),
        installations: installations.map(({ id, membershipId }) => ({ id, owner: membershipId as PrincipalId })),
      }),
  });
}

/**
 * Checks tokens of the authorization servers of `auth.external`, with code that is loaded at the first of them.
 * Undefined where there are none.
 */
function createTeamForeign(
  { config, store, isScope, deny, loadLate, clock }: TeamPeopleDeps,
  book: () => Pick<MemberIndex, "membersOf">,
): TeamDirectoryOptions["foreign"] {
  const rules = config().settings.auth.external;
  if (rules === undefined) return undefined;

  const load = openOnce(async (): Promise<CheckForeignToken> => {
    const { createForeignTokens } = await loadLate(
      "the check of tokens of another authorization server",
      async () => await import("../../people/identity/foreign-tokens.ts"),
    );
    return createForeignTokens({
      rules,
      base: () => config().settings.publicUrl ?? "",
      isScope,
      userOf: async (account) => (await store.access.identity(account))?.userId ?? undefined,
      membersOf: (userId) => book().membersOf(userId),
      onStranger: ({ issuer, subject, why }) =>
        deny({
          ...{ actor: "unknown", via: "jwt", action: "token.stranger", object: subject.slice(0, 100), ip: null },
          ...{ outcome: "denied", detail: { issuer, why } },
        }),
      clock,
    });
  });

  return async (token, signal) => {
    try {
      const check = await load();
      return await check(token, signal);
    } catch (error) {
      // It is no failure of the sender, and its text may hold addresses.
      throw new Error("the authorization server cannot be asked", { cause: error });
    }
  };
}
