import type { Kysely } from "kysely";
import {
  sharedTables,
  type AttemptsAsk,
  type FullAttempt,
  type SharedItem,
  type SharedQuestion,
  type SharedWrites,
} from "../../shared.ts";
import type { RowOf } from "../../state-table.ts";
import type { StateTables } from "../tables.ts";
import { putRow } from "./state-rows.ts";

type Db = Kysely<StateTables>;

export async function readShared(db: Db, { kind, ids }: SharedQuestion): Promise<{ items: readonly SharedItem[] }> {
  const all = db.selectFrom("shared_item").selectAll().where("kind", "=", kind);
  const found = ids === null ? all : all.where("id", "in", [...ids]);
  return { items: (await found.orderBy("id").execute()).map(sharedTables.shared_item.toRow) };
}

/** Inside a transaction of a writer. */
export async function writeShared(
  db: Db,
  { items = [], newItems = [], oldItems = [], gone = [] }: SharedWrites,
): Promise<void> {
  for (const row of items) await putRow(db, "shared_item", row, { by: ["kind", "id"] });
  for (const row of [...newItems, ...oldItems]) {
    const same = db.selectFrom("shared_item").select("id").where("kind", "=", row.kind).where("id", "=", row.id);
    const isThere = (await same.executeTakeFirst()) !== undefined;
    if (isThere === oldItems.includes(row)) await putRow(db, "shared_item", row, { by: ["kind", "id"] });
  }
  for (const { kind, id } of gone)
    await db.deleteFrom("shared_item").where("kind", "=", kind).where("id", "=", id).execute();
}

/** Inside a transaction of a writer, so that many at once are as many as one after the other. */
export async function takeAttempts(db: Db, { tries, nowMs, windowMs }: AttemptsAsk): Promise<FullAttempt | undefined> {
  const rows: RowOf<(typeof sharedTables)["attempt"]>[] = [];
  for (const { key, most } of tries) {
    const found = await db.selectFrom("attempt").selectAll().where("key", "=", key).executeTakeFirst();
    const isOver = found === undefined || found.expires_at_ms <= nowMs;
    if (!isOver && found.count >= most) return { key, untilMs: found.expires_at_ms };
    const count = isOver ? 1 : found.count + 1;
    rows.push({ key, count, expiresAtMs: isOver ? nowMs + windowMs : found.expires_at_ms });
  }
  for (const row of rows) await putRow(db, "attempt", row, { by: ["key"] });
  return undefined;
}

export async function forgetAttempts(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length > 0)
    await db
      .deleteFrom("attempt")
      .where("key", "in", [...keys])
      .execute();
}
