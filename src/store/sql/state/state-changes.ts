import { sql, type Kysely } from "kysely";
import type { StateTables } from "../tables.ts";

/** A change of the state that some gateway made. */
export interface StateChange {
  readonly seq: number;
  readonly origin: string;
  /** The question that changed something. */
  readonly kind: string;
  /** What was written, as JSON; "" where it has to be read again. */
  readonly detail: string;
}

/**
 * The channel on which others are woken; the payload is never read: a poll finds every change, also for those that were
 * not woken.
 */
export const changeChannel = "toolyard_change";
/** Gateways look every second. One that was away for longer than this reads everything again. */
const keptChanges = 10_000;
/** In one look: a hundred times as many as a busy team makes in a second. */
export const mostChanges = 1_000;
/** Longer ones are read again by those who hear of them. */
const longestDetail = 100_000;

/** Inside the transaction of the change. It is told when that is committed, and only then. Resolves with its number. */
export async function putChange(
  db: Kysely<StateTables>,
  { origin, kind, detail }: Omit<StateChange, "seq">,
  atMs: number,
): Promise<number> {
  const seq = (await lastChange(db)) + 1;
  const text = detail.length > longestDetail ? "" : detail;
  await db.insertInto("change").values({ seq, at_ms: atMs, origin, kind, detail: text }).execute();
  await db
    .deleteFrom("change")
    .where("seq", "<=", seq - keptChanges)
    .execute();
  await sql`select pg_notify(${changeChannel}, '')`.execute(db);
  return seq;
}

/** 0 where there is none. */
export async function lastChange(db: Kysely<StateTables>): Promise<number> {
  const found = db.selectFrom("change").select((inner) => inner.fn.max("seq").as("seq"));
  return (await found.executeTakeFirst())?.seq ?? 0;
}

/** Whether another gateway changed something of that kind since. */
export async function isBehind(
  db: Kysely<StateTables>,
  { seen, origin, kind }: { readonly seen: number; readonly origin: string; readonly kind: string },
): Promise<boolean> {
  const others = db.selectFrom("change").select("seq").where("seq", ">", seen).where("kind", "=", kind);
  return (await others.where("origin", "<>", origin).limit(1).executeTakeFirst()) !== undefined;
}
