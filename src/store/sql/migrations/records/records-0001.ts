import { sql, type Kysely } from "kysely";

/**
 * The tables of `records.db`. Few indexes: each costs a fifth of the room and of the time of every row. Ids begin
 * with the time, so that none is needed for it.
 */
export async function createRecords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("meta")
    .addColumn("key", "text", (column) => column.primaryKey())
    .addColumn("value", "text", (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await createRequests(db);
  await createUsage(db);
  await db.schema
    .createTable("server_log")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("at_ms", "integer", (column) => column.notNull())
    .addColumn("team", "text")
    .addColumn("instance", "text", (column) => column.notNull())
    .addColumn("server", "text", (column) => column.notNull())
    .addColumn("level", "integer", (column) => column.notNull())
    .addColumn("line", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  // The id is at the end of every index: this one finds the newest of an instance.
  await db.schema.createIndex("server_log_instance").on("server_log").column("instance").execute();
  await db.schema
    .createTable("event")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("at_ms", "integer", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("team", "text")
    .addColumn("principal", "text")
    .addColumn("installation", "text")
    .addColumn("instance", "text")
    .addColumn("server", "text")
    .addColumn("detail", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema
    .createTable("tool_metadata")
    .addColumn("installation", "text", (column) => column.notNull())
    .addColumn("path", "text", (column) => column.notNull())
    .addColumn("server", "text", (column) => column.notNull())
    .addColumn("description", "text", (column) => column.notNull())
    .addColumn("schema_hash", "text", (column) => column.notNull())
    .addColumn("tokens", "integer", (column) => column.notNull())
    .addColumn("discovered_at_ms", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("tool_metadata_key", ["installation", "path"])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
}

async function createRequests(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("request_log")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("at_ms", "integer", (column) => column.notNull())
    .addColumn("team", "text")
    .addColumn("principal", "text", (column) => column.notNull())
    .addColumn("client", "text")
    .addColumn("instance", "text", (column) => column.notNull())
    .addColumn("server", "text", (column) => column.notNull())
    .addColumn("via", "text", (column) => column.notNull())
    .addColumn("method", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("outcome", "text", (column) => column.notNull())
    .addColumn("code", "text")
    .addColumn("duration_ms", "real", (column) => column.notNull())
    .addColumn("wait_ms", "real", (column) => column.notNull())
    .addColumn("argument_tokens", "integer", (column) => column.notNull())
    .addColumn("result_tokens", "integer", (column) => column.notNull())
    .addColumn("result_cut", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("request_log_instance").on("request_log").column("instance").execute();
  await db.schema.createIndex("request_log_principal").on("request_log").column("principal").execute();
  await sql`create index request_log_failed on request_log (id) where outcome <> 'ok'`.execute(db);
  await db.schema
    .createTable("request_body")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("instance", "text", (column) => column.notNull())
    .addColumn("arguments", "text", (column) => column.notNull())
    .addColumn("arguments_cut", "integer", (column) => column.notNull())
    .addColumn("result", "text", (column) => column.notNull())
    .addColumn("result_cut", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("request_body_instance").on("request_body").column("instance").execute();
}

const buckets = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11"] as const;

async function createUsage(db: Kysely<unknown>): Promise<void> {
  const key = ["hour_ms", "team", "principal", "instance", "tool", "client", "code"] as const;
  let table = db.schema
    .createTable("usage_hour")
    .addColumn("hour_ms", "integer", (column) => column.notNull())
    .addColumn("server", "text", (column) => column.notNull());
  for (const name of key.slice(1)) table = table.addColumn(name, "text", (column) => column.notNull());
  for (const name of ["duration_ms_sum", "duration_ms_max"])
    table = table.addColumn(name, "real", (column) => column.notNull());
  for (const name of ["calls", "argument_tokens", "result_tokens", "cut", ...buckets])
    table = table.addColumn(name, "integer", (column) => column.notNull());
  await table
    .addPrimaryKeyConstraint("usage_hour_key", [...key] as never)
    .modifyEnd(sql`strict, without rowid`)
    .execute();
}
