import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { sql, type Kysely } from "kysely";
import { breaking, type Migrations } from "./migrate.ts";
import { recordsSteps, stateSteps } from "./schema-steps.ts";
import { loadDriver, type SqlDatabase } from "./sql-driver.ts";
import { createKysely } from "./sqlite-dialect.ts";

/** What a program relies on that knows the tables: names, types, and what must be given. */
function promisesOf(database: SqlDatabase): ReadonlyMap<string, string> {
  const rows = database
    .prepare(
      `select t.name as name, c.name as part, c.type || c.pk as kind, c."notnull" and c.dflt_value is null as needed
         from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table'
       union all select t.name, i.name, 'unique', 1 from sqlite_schema t, pragma_index_list(t.name) i
         where t.type = 'table' and i."unique"
       union all select tbl_name, name, 'trigger', 1 from sqlite_schema where type = 'trigger'`,
    )
    .all();
  const texts = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
  );
  return new Map(texts.map(({ name, part, kind, needed }) => [`${name}.${part}`, `${kind} ${needed}`]));
}

/** What each step after the last breaking one does to those who do not know it. */
async function breaches(migrations: Migrations): Promise<readonly string[]> {
  const database = loadDriver(tmpdir()).open(":memory:");
  const db: Kysely<unknown> = createKysely(database);
  let found: string[] = [];
  try {
    for (const [name, step] of Object.entries(migrations)) {
      const before = promisesOf(database);
      const tables = new Set([...before.keys()].map((part) => part.split(".")[0]));
      await step(db);
      const after = promisesOf(database);
      const lost = [...before].filter(([part, kind]) => after.get(part) !== kind);
      const needed = [...after].filter(
        ([part, kind]) => !before.has(part) && kind.endsWith(" 1") && tables.has(part.split(".")[0]),
      );
      if (step.isBreaking === true) found = [];
      else found.push(...[...lost, ...needed].map(([part]) => `${name}: ${part}`));
    }
    return found;
  } finally {
    database.close();
  }
}

test("every step since the last that is said to be breaking only adds", async () => {
  for (const steps of [stateSteps, recordsSteps]) expect(await breaches(steps)).toEqual([]);
});

test("a step that takes something away, or wants something of rows that older versions write, is found", async () => {
  const run = (text: string) => async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db));
  const steps = {
    ...stateSteps,
    "0901": run("create table later (id text primary key, what text not null) strict"),
    "0902": run("alter table later add column more integer"),
    "0903": run("alter table later add column much integer not null default 0"),
    "0904": run("create index later_much on later (much)"),
    "0905": run("create unique index later_what on later (what)"),
    "0906": run("alter table later drop column more"),
    "0907": run("alter table later rename column much to many"),
  };
  expect(await breaches(steps)).toEqual(["0905: later.later_what", "0906: later.more", "0907: later.much"]);
  expect(await breaches({ ...steps, "0908": breaking(run("drop table later")) })).toEqual([]);
});
