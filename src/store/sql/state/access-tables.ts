import type { Kysely } from "kysely";
import {
  accessTables,
  type AccessRows,
  type AccessWrites,
  type GrantRow,
  type IdentityRow,
  type OAuthItemRow,
  type PasswordRow,
  type SetupRow,
} from "../../access-rows.ts";
import { putRow } from "./state-rows.ts";
import type { ItemQuestion, ItemsQuestion } from "../../access-store.ts";
import type { StateTables } from "../tables.ts";

type Db = Kysely<StateTables>;

const { browser_session, identity, oauth_grant, oauth_item, password, setup_link } = accessTables;

/** What a change depends on was used before, or taken away: nothing of the change may stay. */
export class Spent extends Error {
  override readonly name = "Spent";
}

/** Inside a transaction. Throws Spent. */
export async function writeAccess(db: Db, writes: AccessWrites): Promise<void> {
  await spend(db, writes);
  for (const { kind, hash, expiresAtMs } of writes.prolonged ?? []) {
    const place = db.updateTable("oauth_item").where("kind", "=", kind).where("hash", "=", hash);
    const used = place.set(({ eb }) => ({ expires_at_ms: expiresAtMs, uses: eb("uses", "+", 1) }));
    await used.where("expires_at_ms", "<", expiresAtMs).execute();
  }
  for (const { hash, expiresAtMs } of writes.once ?? []) {
    const insert = db.insertInto("seen_once").values({ hash, expires_at_ms: expiresAtMs });
    const { numInsertedOrUpdatedRows } = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) throw new Spent();
  }
  for (const hash of writes.goneSessions ?? [])
    await db.deleteFrom("browser_session").where("hash", "=", hash).execute();
  for (const id of writes.goneGrants ?? []) await db.deleteFrom("oauth_grant").where("id", "=", id).execute();
  for (const { kind, hash } of writes.goneItems ?? [])
    await db.deleteFrom("oauth_item").where("kind", "=", kind).where("hash", "=", hash).execute();
  for (const { issuer, subject, userId } of writes.goneIdentities ?? []) {
    const known = db.updateTable("identity").set({ user_id: null, label: "" }).where("issuer", "=", issuer);
    await known.where("subject", "=", subject).where("user_id", "=", userId).execute();
  }
  for (const row of writes.passwords ?? []) await putRow(db, "password", row, { by: ["user_id"] });
  for (const row of writes.sessions ?? [])
    await putRow(db, "browser_session", row, { by: ["hash"], only: ["seen_at_ms", "expires_at_ms"] });
  for (const { hash, seenAtMs } of writes.seenSessions ?? [])
    await db.updateTable("browser_session").set({ seen_at_ms: seenAtMs }).where("hash", "=", hash).execute();
  for (const { id, usedAtMs } of writes.usedGrants ?? [])
    await db.updateTable("oauth_grant").set({ used_at_ms: usedAtMs }).where("id", "=", id).execute();
  for (const row of writes.setups ?? []) await putRow(db, "setup_link", row);
  for (const { issuer, subject, seenAtMs, label } of writes.identities ?? []) {
    const seen = db.updateTable("identity").set({ seen_at_ms: seenAtMs, label });
    await seen.where("issuer", "=", issuer).where("subject", "=", subject).execute();
  }
  for (const row of writes.grants ?? []) await putRow(db, "oauth_grant", row, { by: ["id"] });
  for (const row of writes.items ?? []) {
    await requireGrant(db, row.grantId);
    await putRow(db, "oauth_item", row, { by: ["kind", "hash"] });
  }
}

/** Another gateway may have taken it away in this moment: nothing is given out for it any more. */
async function requireGrant(db: Db, id: string | null): Promise<void> {
  if (id === null) return;
  const found = db.selectFrom("oauth_grant").select("id").where("id", "=", id);
  if ((await found.executeTakeFirst()) === undefined) throw new Spent();
}

async function spend(db: Db, { spentSetup, consumed }: AccessWrites): Promise<void> {
  if (spentSetup !== undefined) {
    const { numDeletedRows } = await db.deleteFrom("setup_link").where("hash", "=", spentSetup).executeTakeFirst();
    if (numDeletedRows === 0n) throw new Spent();
  }
  if (consumed === undefined) return;
  const place = db.updateTable("oauth_item").where("kind", "=", consumed.kind).where("hash", "=", consumed.hash);
  const first = place.set({ consumed_at_ms: consumed.atMs }).where("consumed_at_ms", "is", null);
  if ((await first.executeTakeFirst()).numUpdatedRows > 0n) return;
  const again = place.set(({ eb }) => ({ uses: eb("uses", "+", 1) })).where("consumed_at_ms", "is not", null);
  if (consumed.once || (await again.executeTakeFirst()).numUpdatedRows === 0n) throw new Spent();
}

/** What has not expired of everything that requests are checked against. */
export async function readAccess(db: Db, nowMs: number): Promise<AccessRows> {
  const sessions = await db.selectFrom("browser_session").selectAll().where("expires_at_ms", ">", nowMs).execute();
  const grants = await db.selectFrom("oauth_grant").selectAll().where("expires_at_ms", ">", nowMs).execute();
  const ofTokens = db.selectFrom("oauth_item").selectAll().where("kind", "=", "AccessToken");
  const tokens = await ofTokens.where("expires_at_ms", ">", nowMs).execute();
  return {
    sessions: sessions.map(browser_session.toRow),
    grants: grants.map(oauth_grant.toRow),
    tokens: tokens.map(oauth_item.toRow),
  };
}

export async function readGrant(db: Db, id: string): Promise<GrantRow | undefined> {
  const row = await db.selectFrom("oauth_grant").selectAll().where("id", "=", id).executeTakeFirst();
  return row && oauth_grant.toRow(row);
}

export async function readItem(db: Db, { kind, hash, lookup }: ItemQuestion): Promise<OAuthItemRow | undefined> {
  const ofKind = db.selectFrom("oauth_item").selectAll().where("kind", "=", kind);
  const found = hash === undefined ? ofKind.where("lookup", "=", lookup ?? "") : ofKind.where("hash", "=", hash);
  const row = await found.executeTakeFirst();
  return row && oauth_item.toRow(row);
}

/** One page, those that are kept longest first. */
export async function readItems(
  db: Db,
  { kind, nowMs, limit, after }: ItemsQuestion,
): Promise<readonly OAuthItemRow[]> {
  const ofKind = db.selectFrom("oauth_item").selectAll().where("kind", "=", kind).where("expires_at_ms", ">", nowMs);
  const behind =
    after === undefined
      ? ofKind
      : ofKind.where(({ and, eb, or }) =>
          or([
            eb("expires_at_ms", "<", after.expiresAtMs),
            and([eb("expires_at_ms", "=", after.expiresAtMs), eb("hash", ">", after.hash)]),
          ]),
        );
  const rows = await behind.orderBy("expires_at_ms", "desc").orderBy("hash").limit(limit).execute();
  return rows.map(oauth_item.toRow);
}

export async function readPassword(db: Db, userId: string): Promise<PasswordRow | undefined> {
  const row = await db.selectFrom("password").selectAll().where("user_id", "=", userId).executeTakeFirst();
  return row && password.toRow(row);
}

export async function readSetup(db: Db, hash: string): Promise<SetupRow | undefined> {
  const row = await db.selectFrom("setup_link").selectAll().where("hash", "=", hash).executeTakeFirst();
  return row && setup_link.toRow(row);
}

export async function readIdentity(
  db: Db,
  { issuer, subject }: Pick<IdentityRow, "issuer" | "subject">,
): Promise<IdentityRow | undefined> {
  const found = db.selectFrom("identity").selectAll().where("issuer", "=", issuer).where("subject", "=", subject);
  const row = await found.executeTakeFirst();
  return row && identity.toRow(row);
}

/** A user's, the oldest first. */
export async function readIdentities(db: Db, userId: string): Promise<readonly IdentityRow[]> {
  const found = db.selectFrom("identity").selectAll().where("user_id", "=", userId);
  return (await found.orderBy("created_at_ms").orderBy("subject").execute()).map(identity.toRow);
}

/** A consent of this hour may have no token yet. */
const freshMs = 3_600_000;
/** An app that renews nothing, and comes back with another assertion within a day, still has the same consent. */
const pauseMs = 86_400_000;

const shared = ["shared_item", "attempt"] as const;

/** Inside a transaction: removes what expired, and grants without anything that could still be used. */
export async function purgeAccess(db: Db, nowMs: number): Promise<void> {
  for (const table of ["browser_session", "setup_link", "oauth_item", "oauth_grant", "seen_once", ...shared] as const)
    await db.deleteFrom(table).where("expires_at_ms", "<=", nowMs).execute();
  const inUse = db.selectFrom("oauth_item").select("grant_id").where("grant_id", "is not", null);
  const old = db.deleteFrom("oauth_grant").where("created_at_ms", "<", nowMs - freshMs);
  const unused = old.where("used_at_ms", "<", nowMs - pauseMs);
  await unused.where("id", "not in", inUse).execute();
  await purgeClients(db, nowMs);
}

/** Apps that registered and were never given anything. Each is kept for 90 days, and some 10 MB are kept of all. */
const mostUnused = 10_000;
/** Those that an admin registered are kept for much longer, and are none of these. */
const ownMs = 365 * pauseMs;

/** However many addresses they come from, clients that register without end take room from each other only. */
async function purgeClients(db: Db, nowMs: number): Promise<void> {
  const clients = db.selectFrom("oauth_item").select("expires_at_ms").where("kind", "=", "Client");
  const unused = clients.where("uses", "=", 0).where("expires_at_ms", "<", nowMs + ownMs);
  const surplus = await unused.orderBy("expires_at_ms", "desc").offset(mostUnused).limit(1).executeTakeFirst();
  if (surplus === undefined) return;
  const gone = db.deleteFrom("oauth_item").where("kind", "=", "Client").where("uses", "=", 0);
  await gone.where("expires_at_ms", "<=", surplus.expires_at_ms).execute();
}
