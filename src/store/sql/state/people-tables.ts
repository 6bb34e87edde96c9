import type { Kysely } from "kysely";
import type { IdentityRow } from "../../access-rows.ts";
import type { PatUse, PeopleRows, PeopleWrites, TeamLimits } from "../../people-rows.ts";
import { identityColumns } from "./access-columns.ts";
import type { StateTables } from "../tables.ts";

/** The people in the database. */
export async function readPeople(db: Kysely<StateTables>): Promise<PeopleRows> {
  const users = await db.selectFrom("user").selectAll().orderBy("name").execute();
  const teams = await db.selectFrom("team").selectAll().orderBy("slug").execute();
  const memberships = await db.selectFrom("membership").selectAll().execute();
  const pats = await db.selectFrom("pat").selectAll().orderBy("created_at_ms").execute();
  const invites = await db.selectFrom("invite").selectAll().orderBy("created_at_ms").execute();
  return {
    users: users.map(({ created_at_ms, role_from, email, ...row }) => ({
      ...row,
      // Most have neither: members that are not there take no room in memory.
      ...(email === "" ? {} : { email }),
      ...(role_from === "" ? {} : { roleFrom: role_from }),
      createdAtMs: created_at_ms,
    })),
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
      ...(row.given_by === "" ? {} : { givenBy: row.given_by }),
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

/**
 * Inside a transaction. A row takes the place of the one with its id: what refers to that one stays. What refers to a
 * row that is removed goes with it.
 */
export async function writePeople(db: Kysely<StateTables>, writes: PeopleWrites): Promise<void> {
  for (const id of writes.goneInvites ?? []) await db.deleteFrom("invite").where("id", "=", id).execute();
  for (const id of writes.gonePats ?? []) await db.deleteFrom("pat").where("id", "=", id).execute();
  for (const id of writes.goneMemberships ?? []) await db.deleteFrom("membership").where("id", "=", id).execute();
  for (const id of writes.goneUsers ?? [])
    await db.updateTable("identity").set({ label: "" }).where("user_id", "=", id).execute();
  for (const id of writes.goneUsers ?? []) await db.deleteFrom("user").where("id", "=", id).execute();
  for (const id of writes.goneTeams ?? []) await db.deleteFrom("team").where("id", "=", id).execute();
  await putPlaces(db, writes);
  for (const row of writes.identities ?? []) await putIdentity(db, row);
  for (const { id, membershipId, name, hash, createdAtMs, expiresAtMs, usedAtMs, scopes, only } of writes.pats ?? []) {
    const times = { created_at_ms: createdAtMs, expires_at_ms: expiresAtMs, used_at_ms: usedAtMs };
    const bounds = { scopes: JSON.stringify(scopes), only_servers: only === null ? null : JSON.stringify(only) };
    await db
      .insertInto("pat")
      .values({ id, membership_id: membershipId, name, hash, ...times, ...bounds })
      .execute();
  }
  for (const { id, teamId, role, about, hash, by, createdAtMs, expiresAtMs, usedAtMs } of writes.invites ?? []) {
    const times = { created_at_ms: createdAtMs, expires_at_ms: expiresAtMs, used_at_ms: usedAtMs };
    await db
      .insertInto("invite")
      .values({ id, team_id: teamId, role, about, hash, invited_by: by, ...times })
      .onConflict((conflict) =>
        conflict.column("id").doUpdateSet(({ ref }) => ({ used_at_ms: ref("excluded.used_at_ms") })),
      )
      .execute();
  }
}

/** Users, teams, and who is in which. */
async function putPlaces(db: Kysely<StateTables>, { users, teams, memberships }: PeopleWrites): Promise<void> {
  for (const { id, name, role, status, email = "", roleFrom = "", createdAtMs, revision } of users ?? [])
    await db
      .insertInto("user")
      .values({ id, name, role, status, email, role_from: roleFrom, created_at_ms: createdAtMs, revision })
      .onConflict((conflict) =>
        conflict.column("id").doUpdateSet(({ ref }) => ({
          name: ref("excluded.name"),
          role: ref("excluded.role"),
          status: ref("excluded.status"),
          email: ref("excluded.email"),
          role_from: ref("excluded.role_from"),
          revision: ref("excluded.revision"),
        })),
      )
      .execute();
  for (const { id, slug, createdAtMs, revision, title, limits } of teams ?? [])
    await db
      .insertInto("team")
      .values({ id, slug, created_at_ms: createdAtMs, revision, title, limits: JSON.stringify(limits) })
      .onConflict((conflict) =>
        conflict.column("id").doUpdateSet(({ ref }) => ({
          slug: ref("excluded.slug"),
          revision: ref("excluded.revision"),
          title: ref("excluded.title"),
          limits: ref("excluded.limits"),
        })),
      )
      .execute();
  for (const { id, teamId, userId, role, givenBy = "", createdAtMs, revision } of memberships ?? [])
    await db
      .insertInto("membership")
      .values({ id, team_id: teamId, user_id: userId, role, given_by: givenBy, created_at_ms: createdAtMs, revision })
      .onConflict((conflict) =>
        conflict.column("id").doUpdateSet(({ ref }) => ({
          role: ref("excluded.role"),
          given_by: ref("excluded.given_by"),
          revision: ref("excluded.revision"),
        })),
      )
      .execute();
}

/** One that is somebody's stays theirs, whoever was faster: only that of a removed user can be given away. */
async function putIdentity(db: Kysely<StateTables>, row: IdentityRow): Promise<void> {
  const values = identityColumns(row);
  const { issuer, subject, user_id } = values;
  const known = db.selectFrom("identity").select("user_id").where("issuer", "=", issuer).where("subject", "=", subject);
  const before = await known.executeTakeFirst();
  if (before === undefined) return void (await db.insertInto("identity").values(values).execute());
  if (before.user_id !== null && before.user_id !== user_id) throw new Error("this identity is somebody else's by now");
  const renewed = db.updateTable("identity").set({ user_id, label: values.label, seen_at_ms: values.seen_at_ms });
  await renewed.where("issuer", "=", issuer).where("subject", "=", subject).execute();
}

/** Inside a transaction. Uses of tokens that are gone by now are ignored. */
export async function usePats(db: Kysely<StateTables>, uses: readonly PatUse[]): Promise<void> {
  for (const { id, usedAtMs } of uses)
    await db.updateTable("pat").set({ used_at_ms: usedAtMs }).where("id", "=", id).execute();
}
