import type { Kysely } from "kysely";
import type { PatUse, PeopleRows, PeopleWrites } from "../people-rows.ts";
import type { StateTables } from "./tables.ts";

/** The people in the database. */
export async function readPeople(db: Kysely<StateTables>): Promise<PeopleRows> {
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

/** Inside a transaction. A row takes the place of the one with its id: what refers to that one stays. */
export async function writePeople(db: Kysely<StateTables>, writes: PeopleWrites): Promise<void> {
  const { users, teams, memberships, pats, goneMemberships, gonePats } = writes;
  for (const id of gonePats ?? []) await db.deleteFrom("pat").where("id", "=", id).execute();
  for (const id of goneMemberships ?? []) await db.deleteFrom("membership").where("id", "=", id).execute();
  for (const { createdAtMs, ...row } of users ?? [])
    await db
      .insertInto("user")
      .values({ id: row.id, name: row.name, role: row.role, status: row.status, created_at_ms: createdAtMs })
      .onConflict((conflict) =>
        conflict.column("id").doUpdateSet(({ ref }) => ({
          name: ref("excluded.name"),
          role: ref("excluded.role"),
          status: ref("excluded.status"),
        })),
      )
      .execute();
  for (const { id, slug, createdAtMs } of teams ?? [])
    await db
      .insertInto("team")
      .values({ id, slug, created_at_ms: createdAtMs })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(({ ref }) => ({ slug: ref("excluded.slug") })))
      .execute();
  for (const { id, teamId, userId, role, createdAtMs } of memberships ?? [])
    await db
      .insertInto("membership")
      .values({ id, team_id: teamId, user_id: userId, role, created_at_ms: createdAtMs })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(({ ref }) => ({ role: ref("excluded.role") })))
      .execute();
  for (const { membershipId, createdAtMs, expiresAtMs, usedAtMs, ...row } of pats ?? []) {
    const times = { created_at_ms: createdAtMs, expires_at_ms: expiresAtMs, used_at_ms: usedAtMs };
    await db
      .insertInto("pat")
      .values({ id: row.id, membership_id: membershipId, name: row.name, hash: row.hash, ...times })
      .execute();
  }
}

/** Inside a transaction. Uses of tokens that are gone by now are ignored. */
export async function usePats(db: Kysely<StateTables>, uses: readonly PatUse[]): Promise<void> {
  for (const { id, usedAtMs } of uses)
    await db.updateTable("pat").set({ used_at_ms: usedAtMs }).where("id", "=", id).execute();
}
