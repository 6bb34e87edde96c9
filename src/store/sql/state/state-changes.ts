import { sql, type Kysely } from "kysely";
import { toldKinds, type StateTables } from "../tables.ts";

/** A change of the state that some gateway made. */
export interface StateChange {
  readonly seq: number;
  readonly origin: string;
  /** The question that changed something. */
  readonly kind: string;
  /** What was written, as JSON; "" where it has to be read again. */
  readonly detail: string;
}

/** What tells a change from another that got its number later, after a failover that lost it. */
export interface ChangeMark {
  readonly seq: number;
  readonly atMs: number;
  readonly origin: string;
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

export async function lastMark(db: Kysely<StateTables>): Promise<ChangeMark | undefined> {
  const last = db.selectFrom("change").select(["seq", "at_ms as atMs", "origin"]).orderBy("seq", "desc").limit(1);
  return await last.executeTakeFirst();
}

/** 0 where there is none. */
export async function lastChange(db: Kysely<StateTables>): Promise<number> {
  return (await lastMark(db))?.seq ?? 0;
}

/** Whether the database still has it: after a failover to a standby that lagged, or a restore, it does not. */
export async function hasChange(db: Kysely<StateTables>, { seq, atMs, origin }: ChangeMark): Promise<boolean> {
  const found = db.selectFrom("change").select(["at_ms", "origin"]).where("seq", "=", seq);
  const row = await found.executeTakeFirst();
  return row?.at_ms === atMs && row.origin === origin;
}

/**
 * Whether another gateway changed something of that kind since, or something of a kind that only a newer version knows;
 * always where nothing that is known is sure.
 */
export async function isBehind(
  db: Kysely<StateTables>,
  { seen, origin, kind }: { readonly seen: number; readonly origin: string; readonly kind: string },
): Promise<boolean> {
  if (seen < 0) return true;
  const others = db.selectFrom("change").select("seq").where("seq", ">", seen).where("origin", "<>", origin);
  const found = others.where((is) => is.or([is("kind", "=", kind), is("kind", "not in", toldKinds)]));
  return (await found.limit(1).executeTakeFirst()) !== undefined;
}
