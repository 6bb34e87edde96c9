import type { SelectQueryBuilder } from "kysely";
import { idAt } from "./records/record-ids.ts";
import { scanLimit, type PageQuery, type TimeRange } from "../record-store.ts";

/** The row at that place among those that an index finds; undefined when there are not so many. */
type Floor = (offset: number) => Promise<{ readonly id: number } | undefined>;

/** How one page is read, newest first. */
interface PageReads<Row> {
  /** Undefined where no filter is left beside what an index finds. */
  readonly floor: Floor | undefined;
  /** At most `limit` rows that fit, with ids above that one. */
  rows(above: number): Promise<readonly Row[]>;
}

/** Looks at `scanLimit` rows at most, however few of them fit. */
export async function readPage<Row extends { readonly id: number }>(
  { limit }: PageQuery,
  { floor, rows }: PageReads<Row>,
): Promise<{ readonly rows: readonly Row[]; readonly next: number | null }> {
  const last = await floor?.(scanLimit);
  const page = await rows(last === undefined ? -1 : last.id);
  const lowest = page.at(-1)?.id;
  if (page.length === limit && lowest !== undefined) return { rows: page, next: lowest };
  // That row itself was not looked at.
  return { rows: page, next: last === undefined ? null : last.id + 1 };
}

// Kysely's builders check columns where they are named. These take columns of any table, and each caller names its own.
type Builder = SelectQueryBuilder<Record<string, Record<string, unknown>>, string, object>;

/** Counts from the newest of the rows that a query finds. */
export function floorOf(query: unknown, column: string): Floor {
  const found = (query as Builder).select(`${column} as id`).orderBy(column, "desc").limit(1);
  return async (offset) => (await found.offset(offset).executeTakeFirst()) as { readonly id: number } | undefined;
}

/** Rows between the cursors, and of that time: a range of ids is a range of time. */
export function idRange<Query>(
  query: Query,
  column: string,
  { before, after, fromMs, toMs }: PageQuery & TimeRange,
): Query {
  let ranged = query as unknown as Builder;
  if (before !== undefined) ranged = ranged.where(column, "<", before);
  if (after !== undefined) ranged = ranged.where(column, ">", after);
  if (fromMs !== undefined) ranged = ranged.where(column, ">=", idAt(fromMs));
  if (toMs !== undefined) ranged = ranged.where(column, "<", idAt(toMs));
  return ranged as unknown as Query;
}

/** Rows whose columns have these values; an undefined one lets everything through. */
export function filterEqual<Query>(query: Query, values: Readonly<Record<string, string | number | undefined>>): Query {
  let filtered = query as unknown as Builder;
  for (const [column, value] of Object.entries(values))
    if (value !== undefined) filtered = filtered.where(column, "=", value);
  return filtered as unknown as Query;
}
