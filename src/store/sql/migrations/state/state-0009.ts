import { sql, type Kysely } from "kysely";

/**
 * Whether an admin of the gateway wrote a template's address. Of the templates that are there already, those whose last
 * change was by the owner of the data directory or by somebody who is an admin now: of all others that is not known.
 */
export async function addTemplateMakers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("template")
    .addColumn("by_admin", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  const admins = sql`
    select membership.id from membership join "user" on "user".id = membership.user_id where "user".role = 'admin'`;
  await sql`
    update template set by_admin = 1
    where team_id is null or changed_by in ('owner', 'local') or changed_by in (${admins})`.execute(db);
}
