import type { Kysely } from "kysely";
import type { AuditEntry } from "../record-rows.ts";
import type { AuditPlace } from "../record-store.ts";
import type { PatUse, PeopleRows, PeopleWrites } from "../people-rows.ts";
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
  const deleteMembership = prepareQuery(database, db.deleteFrom("membership").where("id", "=", "").compile());
  const deletePat = prepareQuery(database, db.deleteFrom("pat").where("id", "=", "").compile());
  const updateUse = prepareQuery(database, db.updateTable("pat").set({ used_at_ms: 0 }).where("id", "=", "").compile());

  function writeRows({ users, teams, memberships, pats, goneMemberships, gonePats }: PeopleWrites): void {
    for (const id of gonePats ?? []) runWith(deletePat, [id]);
    for (const id of goneMemberships ?? []) runWith(deleteMembership, [id]);
    for (const row of users ?? []) runWith(put.user, [row.id, row.name, row.role, row.status, row.createdAtMs]);
    for (const row of teams ?? []) runWith(put.team, [row.id, row.slug, row.createdAtMs]);
    for (const row of memberships ?? [])
      runWith(put.membership, [row.id, row.teamId, row.userId, row.role, row.createdAtMs]);
    for (const row of pats ?? []) {
      const { id, membershipId, name, hash, createdAtMs, expiresAtMs, usedAtMs } = row;
      runWith(put.pat, [id, membershipId, name, hash, createdAtMs, expiresAtMs, usedAtMs]);
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

/** Statements that put a row in the place of the one with its id: what refers to that one stays. */
function createPut(database: SqlDatabase, db: Kysely<StateTables>) {
  const times = { created_at_ms: 0 };
  return {
    user: prepareQuery(
      database,
      db
        .insertInto("user")
        .values({ id: "", name: "", role: "user", status: "active", ...times })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(({ ref }) => ({
            name: ref("excluded.name"),
            role: ref("excluded.role"),
            status: ref("excluded.status"),
          })),
        )
        .compile(),
    ),
    team: prepareQuery(
      database,
      db
        .insertInto("team")
        .values({ id: "", slug: "", ...times })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(({ ref }) => ({ slug: ref("excluded.slug") })))
        .compile(),
    ),
    membership: prepareQuery(
      database,
      db
        .insertInto("membership")
        .values({ id: "", team_id: "", user_id: "", role: "member", ...times })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(({ ref }) => ({ role: ref("excluded.role") })))
        .compile(),
    ),
    pat: prepareQuery(
      database,
      db
        .insertInto("pat")
        .values({ id: "", membership_id: "", name: "", hash: "", ...times, expires_at_ms: 0, used_at_ms: null })
        .compile(),
    ),
  };
}

async function readPeople(db: Kysely<StateTables>): Promise<PeopleRows> {
  const users = await db.selectFrom("user").selectAll().orderBy("name").execute();
  const teams = await db.selectFrom("team").selectAll().orderBy("slug").execute();
  const memberships = await db.selectFrom("membership").selectAll().execute();
  const pats = await db.selectFrom("pat").selectAll().orderBy("created_at_ms").execute();
  return {
    users: users.map(({ created_at_ms, ...row }) => ({ ...row, createdAtMs: created_at_ms })),
    teams: teams.map(({ created_at_ms, ...row }) => ({ ...row, createdAtMs: created_at_ms })),
    memberships: memberships.map(({ id, role, ...row }) => ({
      id,
      teamId: row.team_id,
      userId: row.user_id,
      role,
      createdAtMs: row.created_at_ms,
    })),
    pats: pats.map(({ id, name, hash, ...row }) => ({
      id,
      membershipId: row.membership_id,
      name,
      hash,
      createdAtMs: row.created_at_ms,
      expiresAtMs: row.expires_at_ms,
      usedAtMs: row.used_at_ms,
    })),
  };
}
