import type { Kysely } from "kysely";
import type { ClaimAsk } from "../../shared.ts";
import type { StateTables } from "../tables.ts";

/**
 * Of a kind. Beyond it the oldest are forgotten: a state could be used a second time, and a session that its client
 * ended be begun again by that client.
 */
const keptClaims = 200_000;
/** Clocks of gateways differ: one that is ahead must not forget what counts for the others. */
const graceMs = 3_600_000;

export async function readClaimed(
  db: Kysely<StateTables>,
  { kind, ids }: Pick<ClaimAsk, "kind" | "ids">,
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const found = db.selectFrom("claim").select("id").where("kind", "=", kind);
  return (await found.where("id", "in", [...ids]).execute()).map(({ id }) => id);
}

/** Inside a transaction of a writer. Resolves with those that were not claimed before. */
export async function writeClaims(
  db: Kysely<StateTables>,
  { kind, ids, untilMs, nowMs }: ClaimAsk,
): Promise<{ readonly fresh: readonly string[] }> {
  await db
    .deleteFrom("claim")
    .where("until_ms", "<=", nowMs - graceMs)
    .execute();
  if (ids.length === 0) return { fresh: [] };
  const ofKind = db.selectFrom("claim").select("seq").where("kind", "=", kind);
  const last = (await ofKind.orderBy("seq", "desc").limit(1).executeTakeFirst())?.seq ?? 0;
  const rows = [...new Set(ids)].map((id, at) => ({ kind, id, seq: last + 1 + at, until_ms: untilMs }));
  const put = db.insertInto("claim").values(rows);
  const fresh = await put
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .execute();
  await db
    .deleteFrom("claim")
    .where("kind", "=", kind)
    .where("seq", "<=", last + rows.length - keptClaims)
    .execute();
  return { fresh: fresh.map(({ id }) => id) };
}
