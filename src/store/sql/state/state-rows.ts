import type { Kysely } from "kysely";
import { accessTables } from "../../access-rows.ts";
import { approvalTables } from "../../approval-rows.ts";
import { installTables } from "../../install-rows.ts";
import { peopleTables } from "../../people-rows.ts";
import { sharedTables } from "../../shared.ts";
import type { RowOf } from "../../state-table.ts";
import type { StateTables } from "../tables.ts";

const tables = { ...accessTables, ...approvalTables, ...peopleTables, ...installTables, ...sharedTables };

type Tables = typeof tables;
type ColumnOf<Name extends keyof Tables> = keyof StateTables[Name] & string;

export interface Replacing<Column> {
  /** The columns of the key. */
  readonly by: readonly Column[];
  /** What the row that is there takes over; everything where that is not said. */
  readonly only?: readonly Column[];
}

/** Writes a row; with `replacing`, it takes the place of the one that has its key. */
export async function putRow<Name extends keyof Tables>(
  db: Kysely<StateTables>,
  name: Name,
  row: RowOf<Tables[Name]>,
  replacing?: Replacing<ColumnOf<Name>>,
): Promise<void> {
  const values: Record<string, unknown> = tables[name].toKept(row as never);
  // Which columns a table has is known to its row, and not to a table that is chosen by name.
  const insert = (db as unknown as Kysely<Record<string, Record<string, unknown>>>)
    .insertInto(name as string)
    .values(values);
  if (replacing === undefined) return void (await insert.execute());
  const keys: readonly string[] = replacing.by;
  const only: readonly string[] = replacing.only ?? Object.keys(values).filter((column) => !keys.includes(column));
  const taken = Object.fromEntries(only.map((column) => [column, values[column]]));
  await insert.onConflict((conflict) => conflict.columns([...keys]).doUpdateSet(taken)).execute();
}
