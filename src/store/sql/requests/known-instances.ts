import { sql, type Kysely, type RawBuilder } from "kysely";
import type { EventRecord } from "../../record-rows.ts";
import type { RecordsTables } from "../tables.ts";

/** Which installation events name for an instance. An instance is named by its first one, when it starts. */
export type KnownInstance = RecordsTables["known_instance"];

/** Undefined for events of no instance, and of those that are an installation by themselves. */
export function toKnownInstance({ instance, installation, atMs }: EventRecord): KnownInstance | undefined {
  if (instance === null || installation === null || instance === installation) return undefined;
  return { instance, installation, seen_ms: atMs };
}

export function putKnownInstance(db: Kysely<RecordsTables>, row: KnownInstance) {
  const { installation, seen_ms } = row;
  return db
    .insertInto("known_instance")
    .values(row)
    .onConflict((conflict) => conflict.column("instance").doUpdateSet({ installation, seen_ms }));
}

/** Of a row that has an `instance`: an instance that belongs to nothing else is an installation by itself. */
export function installationOf(table: string): RawBuilder<string> {
  const instance = sql.ref(`${table}.instance`);
  const known = sql`select installation from known_instance where known_instance.instance = ${instance}`;
  return sql<string>`coalesce((${known}), ${instance})`;
}

/** Rows of an installation's instances. */
export function isOfInstallation(table: string, installation: string): RawBuilder<boolean> {
  const instance = sql.ref(`${table}.instance`);
  const known = sql`select instance from known_instance where installation = ${installation}`;
  return sql<boolean>`(${instance} = ${installation} or ${instance} in (${known}))`;
}
