import type { Kysely } from "kysely";
import type { IdentityRow } from "../../access-rows.ts";
import { peopleTables, type PatUse, type PeopleRows, type PeopleWrites } from "../../people-rows.ts";
import { putRow } from "./state-rows.ts";
import type { StateTables } from "../tables.ts";

const { invite, membership, pat, team, user } = peopleTables;

/** The people in the database. */
export async function readPeople(db: Kysely<StateTables>): Promise<PeopleRows> {
  const users = await db.selectFrom("user").selectAll().orderBy("name").execute();
  const teams = await db.selectFrom("team").selectAll().orderBy("slug").execute();
  const memberships = await db.selectFrom("membership").selectAll().execute();
  const pats = await db.selectFrom("pat").selectAll().orderBy("created_at_ms").execute();
  const invites = await db.selectFrom("invite").selectAll().orderBy("created_at_ms").execute();
  return {
    users: users.map(user.toRow),
    teams: teams.map(team.toRow),
    memberships: memberships.map(membership.toRow),
    pats: pats.map(pat.toRow),
    invites: invites.map(invite.toRow),
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
  for (const row of writes.users ?? []) await putRow(db, "user", row, { by: ["id"] });
  for (const row of writes.teams ?? []) await putRow(db, "team", row, { by: ["id"] });
  for (const row of writes.memberships ?? []) await putRow(db, "membership", row, { by: ["id"] });
  for (const row of writes.identities ?? []) await putIdentity(db, row);
  for (const row of writes.pats ?? []) await putRow(db, "pat", row);
  for (const row of writes.invites ?? []) await putRow(db, "invite", row, { by: ["id"], only: ["used_at_ms"] });
}

/** One that is somebody's stays theirs, no matter who was faster: only that of a removed user can be given away. */
async function putIdentity(db: Kysely<StateTables>, row: IdentityRow): Promise<void> {
  const { issuer, subject, userId, label, seenAtMs } = row;
  const known = db.selectFrom("identity").select("user_id").where("issuer", "=", issuer).where("subject", "=", subject);
  const before = await known.executeTakeFirst();
  if (before === undefined) return await putRow(db, "identity", row);
  if (before.user_id !== null && before.user_id !== userId) throw new Error("this identity is somebody else's by now");
  const renewed = db.updateTable("identity").set({ user_id: userId, label, seen_at_ms: seenAtMs });
  await renewed.where("issuer", "=", issuer).where("subject", "=", subject).execute();
}

/** Inside a transaction. Uses of tokens that were removed meanwhile are ignored. */
export async function usePats(db: Kysely<StateTables>, uses: readonly PatUse[]): Promise<void> {
  for (const { id, usedAtMs } of uses)
    await db.updateTable("pat").set({ used_at_ms: usedAtMs }).where("id", "=", id).execute();
}
