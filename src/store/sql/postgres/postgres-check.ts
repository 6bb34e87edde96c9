import { sql } from "kysely";
import type { DatabaseCheck } from "../../store-upkeep.ts";
import { nameDatabase } from "./postgres-errors.ts";
import type { PostgresLink } from "./postgres-link.ts";
import { schemaOf, stepsDone } from "./postgres-migrate.ts";

/** Looks at what an administrator can do something about. What the server itself looks after, it does not repeat. */
export async function checkPostgres(link: PostgresLink, url: string): Promise<readonly DatabaseCheck[]> {
  const place = nameDatabase(url);
  const { problem } = link;
  if (problem !== undefined)
    return (["state", "records"] as const).map((database) => {
      return { database, place, engine: "PostgreSQL", bytes: 0, steps: [], faults: [problem.message] };
    });
  return await link.inState("read", async (db) => {
    const about = sql<{ version: string; isAbove: number }>`select current_setting('server_version') as version,
      (rolsuper or rolbypassrls) as "isAbove" from pg_roles where rolname = current_user`;
    const [server] = (await about.execute(db)).rows;
    const checks: DatabaseCheck[] = [];
    for (const database of ["state", "records"] as const) {
      const size = sql<{ bytes: number }>`select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
        from pg_class c where c.relkind = 'r' and c.relnamespace = ${schemaOf[database]}::regnamespace`;
      const open = sql<{ name: string }>`select c.table_name as name from information_schema.columns c
        join pg_class t on t.relname = c.table_name and t.relnamespace = ${schemaOf[database]}::regnamespace
        where c.table_schema = ${schemaOf[database]} and c.column_name in ('team', 'team_id')
          and not t.relforcerowsecurity`;
      const faults = (await open.execute(db)).rows.map(({ name }) => `rows of ${name} are not kept apart by team`);
      if (server?.isAbove === 1)
        faults.push("its user is a superuser or has BYPASSRLS, so that security of rows does not hold for the gateway");
      checks.push({
        database,
        place,
        engine: `PostgreSQL ${server?.version}`,
        bytes: (await size.execute(db)).rows[0]?.bytes ?? 0,
        steps: await stepsDone(db as never, database),
        faults,
      });
    }
    return checks;
  });
}
