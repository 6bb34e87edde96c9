import type { Kysely } from "kysely";
import type { AuditEntry } from "../record-rows.ts";
import type { AuditPlace } from "../record-store.ts";
import type { PatUse, PeopleRows, PeopleWrites, TeamLimits } from "../people-rows.ts";
import type { AuditChain } from "./audit.ts";
import { prepareQuery, runWith } from "./row-writer.ts";
import type { SqlDatabase } from "./sql-driver.ts";
import { inTransaction } from "./sqlite-dialect.ts";
import type { StateTables } from "./tables.ts";

/** The people in the database. */
export interface PeopleTables {
  read(): Promise<PeopleRows>;
  /** The change and its entry in the audit are on the disk when it returns, or neither is. */
  write(writes: PeopleWrites, entry: AuditEntry): AuditPlace;
  /** Uses of tokens that are gone by now are ignored. */
  use(uses: readonly PatUse[]): void;
}

export function createPeopleTables(database: SqlDatabase, db: Kysely<StateTables>, chain: AuditChain): PeopleTables {
  const put = createPut(database, db);
  const remove = createRemove(database, db);
  const updateUse = prepareQuery(database, db.updateTable("pat").set({ used_at_ms: 0 }).where("id", "=", "").compile());

  function writeRows(writes: PeopleWrites): void {
    for (const id of writes.goneInvites ?? []) runWith(remove.invite, [id]);
    for (const id of writes.gonePats ?? []) runWith(remove.pat, [id]);
    for (const id of writes.goneMemberships ?? []) runWith(remove.membership, [id]);
    for (const id of writes.goneUsers ?? []) runWith(remove.user, [id]);
    for (const id of writes.goneTeams ?? []) runWith(remove.team, [id]);
    for (const row of writes.users ?? [])
      runWith(put.user, [row.id, row.name, row.role, row.status, row.createdAtMs, row.revision]);
    for (const { id, slug, createdAtMs, revision, title, limits } of writes.teams ?? [])
      runWith(put.team, [id, slug, createdAtMs, revision, title, JSON.stringify(limits)]);
    for (const { id, teamId, userId, role, createdAtMs, revision } of writes.memberships ?? [])
      runWith(put.membership, [id, teamId, userId, role, createdAtMs, revision]);
    for (const row of writes.pats ?? []) {
      const { id, membershipId, name, hash, createdAtMs, expiresAtMs, usedAtMs, scopes, only } = row;
      const limits = [JSON.stringify(scopes), only === null ? null : JSON.stringify(only)];
      runWith(put.pat, [id, membershipId, name, hash, createdAtMs, expiresAtMs, usedAtMs, ...limits]);
    }
    for (const row of writes.invites ?? []) {
      const { id, teamId, role, about, hash, by, createdAtMs, expiresAtMs, usedAtMs } = row;
      runWith(put.invite, [id, teamId, role, about, hash, by, createdAtMs, expiresAtMs, usedAtMs]);
    }
  }

  return {
    read: async () => await readPeople(db),
    write: (writes, entry) => chain.appendWith([entry], () => writeRows(writes))[0] as AuditPlace,
    use: (uses) =>
      inTransaction(database, () => {
        for (const { id, usedAtMs } of uses) runWith(updateUse, [usedAtMs, id]);
      }),
  };
}

/** Statements that remove a row by its id; what refers to it goes with it. */
function createRemove(database: SqlDatabase, db: Kysely<StateTables>) {
  const from = (table: "user" | "team" | "membership" | "pat" | "invite") =>
    prepareQuery(database, db.deleteFrom(table).where("id", "=", "").compile());
  return {
    user: from("user"),
    team: from("team"),
    membership: from("membership"),
    pat: from("pat"),
    invite: from("invite"),
  };
}

/** Statements that put a row in the place of the one with its id: what refers to that one stays. */
function createPut(database: SqlDatabase, db: Kysely<StateTables>) {
  const times = { created_at_ms: 0 };
  const counted = { ...times, revision: 1 };
  return {
    user: prepareQuery(
      database,
      db
        .insertInto("user")
        .values({ id: "", name: "", role: "user", status: "active", ...counted })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(({ ref }) => ({
            name: ref("excluded.name"),
            role: ref("excluded.role"),
            status: ref("excluded.status"),
            revision: ref("excluded.revision"),
          })),
        )
        .compile(),
    ),
    team: prepareQuery(
      database,
      db
        .insertInto("team")
        .values({ id: "", slug: "", ...counted, title: "", limits: "{}" })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(({ ref }) => ({
            slug: ref("excluded.slug"),
            revision: ref("excluded.revision"),
            title: ref("excluded.title"),
            limits: ref("excluded.limits"),
          })),
        )
        .compile(),
    ),
    membership: prepareQuery(
      database,
      db
        .insertInto("membership")
        .values({ id: "", team_id: "", user_id: "", role: "member", ...counted })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(({ ref }) => ({
            role: ref("excluded.role"),
            revision: ref("excluded.revision"),
          })),
        )
        .compile(),
    ),
    pat: prepareQuery(
      database,
      db
        .insertInto("pat")
        .values({
          ...{ id: "", membership_id: "", name: "", hash: "", ...times, expires_at_ms: 0, used_at_ms: null },
          ...{ scopes: "[]", only_servers: null },
        })
        .compile(),
    ),
    invite: prepareQuery(
      database,
      db
        .insertInto("invite")
        .values({
          ...{ id: "", team_id: "", role: "member", about: "", hash: "", invited_by: "" },
          ...{ ...times, expires_at_ms: 0, used_at_ms: null },
        })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(({ ref }) => ({ used_at_ms: ref("excluded.used_at_ms") })),
        )
        .compile(),
    ),
  };
}

async function readPeople(db: Kysely<StateTables>): Promise<PeopleRows> {
  const users = await db.selectFrom("user").selectAll().orderBy("name").execute();
  const teams = await db.selectFrom("team").selectAll().orderBy("slug").execute();
  const memberships = await db.selectFrom("membership").selectAll().execute();
  const pats = await db.selectFrom("pat").selectAll().orderBy("created_at_ms").execute();
  const invites = await db.selectFrom("invite").selectAll().orderBy("created_at_ms").execute();
  return {
    users: users.map(({ created_at_ms, ...row }) => ({ ...row, createdAtMs: created_at_ms })),
    teams: teams.map(({ created_at_ms, limits, ...row }) => ({
      ...row,
      limits: JSON.parse(limits) as TeamLimits,
      createdAtMs: created_at_ms,
    })),
    memberships: memberships.map(({ id, role, revision, ...row }) => ({
      id,
      teamId: row.team_id,
      userId: row.user_id,
      role,
      createdAtMs: row.created_at_ms,
      revision,
    })),
    pats: pats.map(({ id, name, hash, ...row }) => ({
      id,
      membershipId: row.membership_id,
      name,
      hash,
      createdAtMs: row.created_at_ms,
      expiresAtMs: row.expires_at_ms,
      usedAtMs: row.used_at_ms,
      scopes: JSON.parse(row.scopes) as string[],
      only: row.only_servers === null ? null : (JSON.parse(row.only_servers) as string[]),
    })),
    invites: invites.map(({ id, role, about, hash, ...row }) => ({
      id,
      teamId: row.team_id,
      role,
      about,
      hash,
      by: row.invited_by,
      createdAtMs: row.created_at_ms,
      expiresAtMs: row.expires_at_ms,
      usedAtMs: row.used_at_ms,
    })),
  };
}
