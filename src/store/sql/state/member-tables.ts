import type { Kysely } from "kysely";
import type { KeptSearch, KeepOutcome } from "../../../catalog/discovery/kept-searches.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { StateTables } from "../tables.ts";
import { parsePins, type PinChoice } from "../../../config/rows/tool-rows.ts";

type Db = Kysely<StateTables>;

export interface KeepQuestion {
  readonly search: KeptSearch;
  /** Searches of one member, this one included. */
  readonly most: number;
}

export interface RemoveQuestion {
  readonly person: string;
  readonly id: string;
}

/** In the order in which they were kept. */
export async function readKeptSearches(db: Db, person: string): Promise<readonly KeptSearch[]> {
  const own = db.selectFrom("kept_search").selectAll().where("membership_id", "=", person);
  const rows = await own.orderBy("kept_at_ms").orderBy("id").execute();
  return rows.map(({ id, membership_id, query, tool, rank, kept_at_ms }) => ({
    ...{ id, query, tool, rank },
    person: membership_id as PrincipalId,
    keptAtMs: kept_at_ms,
  }));
}

/** Inside a transaction of a writer. The same question for the same tool replaces the one before. */
export async function keepSearch(db: Db, { search, most }: KeepQuestion): Promise<KeepOutcome> {
  const { id, person, query, tool, rank, keptAtMs } = search;
  // Another gateway may have removed the member in this moment.
  const member = db.selectFrom("membership").select("id").where("id", "=", person);
  if ((await member.executeTakeFirst()) === undefined) return "gone";
  const same = db.deleteFrom("kept_search").where("membership_id", "=", person).where("query", "=", query);
  const { numDeletedRows } = await same.where("tool", "=", tool).executeTakeFirst();
  const own = db.selectFrom("kept_search").select((inner) => inner.fn.countAll<number>().as("count"));
  const count = Number((await own.where("membership_id", "=", person).executeTakeFirst())?.count ?? 0);
  // What was there before makes room for itself, so that nothing is lost where there is none.
  if (count >= most && numDeletedRows === 0n) return "full";
  const row = { id, membership_id: person, query, tool, rank, kept_at_ms: keptAtMs };
  await db.insertInto("kept_search").values(row).execute();
  return "kept";
}

/** Inside a transaction. Whether the member had one with this id. */
export async function removeKeptSearch(db: Db, { person, id }: RemoveQuestion): Promise<boolean> {
  const one = db.deleteFrom("kept_search").where("membership_id", "=", person).where("id", "=", id);
  return (await one.executeTakeFirst()).numDeletedRows > 0n;
}

export interface PinQuestion {
  readonly person: string;
  /** Null takes the choice back. */
  readonly choice: PinChoice | null;
}

/** Undefined for a member who chose nothing. */
export async function readPins(db: Db, person: string): Promise<PinChoice | undefined> {
  const row = db.selectFrom("member_pins").select("pins").where("membership_id", "=", person);
  const text = (await row.executeTakeFirst())?.pins;
  return text === undefined ? undefined : parsePins(JSON.parse(text));
}

/** Inside a transaction of a writer. Whether there is such a member still. */
export async function choosePins(db: Db, { person, choice }: PinQuestion): Promise<boolean> {
  // Another gateway may have removed the member in this moment.
  const member = db.selectFrom("membership").select("id").where("id", "=", person);
  if ((await member.executeTakeFirst()) === undefined) return false;
  await db.deleteFrom("member_pins").where("membership_id", "=", person).execute();
  if (choice !== null)
    await db
      .insertInto("member_pins")
      .values({ membership_id: person, pins: JSON.stringify(choice) })
      .execute();
  return true;
}
