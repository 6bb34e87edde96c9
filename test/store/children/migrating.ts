import { tmpdir } from "node:os";
import { sql } from "kysely";
import { createRecords } from "../../../src/store/sql/migrations/records/records-0001.ts";
import { recordsSteps, stateSteps } from "../../../src/store/sql/sqlite/schema-steps.ts";
import { loadDriver } from "../../../src/store/sql/sqlite/sql-driver.ts";
import { openSqliteFile } from "../../../src/store/sql/sqlite/sqlite-file.ts";

// Brings the database of its first argument up to date: in as many steps as its second says, each of many statements,
// or, where that is `records` or `state`, in those that the program has for this database.
const [path = "", steps = "1"] = process.argv.slice(2);
const driver = loadDriver(tmpdir());
process.stdout.write("begin\n");
const real = { records: recordsSteps, state: stateSteps }[steps];
const later = Array.from({ length: real === undefined ? Number(steps) - 1 : 0 }, (_, at) => [
  `000${at + 2}`,
  async (db: Parameters<typeof createRecords>[0]) => {
    for (let table = 0; table < 30; table += 1) {
      await sql`create table ${sql.table(`step_${at}_${table}`)} (id integer primary key, text text)`.execute(db);
      await sql`insert into ${sql.table(`step_${at}_${table}`)} (text) values (hex(randomblob(2000)))`.execute(db);
    }
  },
]);
const migrations = real ?? { "0001": createRecords, ...Object.fromEntries(later) };
const file = await openSqliteFile({ driver, path, synchronous: "full", migrations });
file.close();
process.stdout.write("done\n");
