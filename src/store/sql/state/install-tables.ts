import type { CompiledQuery, Kysely } from "kysely";
import type { InstallRows, InstallWrites, SecretUse } from "../../install-rows.ts";
import type { StateTables } from "../tables.ts";

type Db = Kysely<StateTables>;

/** Everything of teams' servers. */
export async function readInstalls(db: Db): Promise<InstallRows> {
  const [templates, installations, personal, secrets, dataKeys] = [
    await db.selectFrom("template").selectAll().execute(),
    await db.selectFrom("installation").selectAll().execute(),
    await db.selectFrom("personal_config").selectAll().execute(),
    await db.selectFrom("secret").selectAll().execute(),
    await db.selectFrom("data_key").selectAll().execute(),
  ];
  return {
    templates: templates.map(({ team_id, by_admin, changed_by, created_at_ms, ...row }) => ({
      ...row,
      byAdmin: by_admin !== 0,
      source: row.source === "registry" ? "registry" : "own",
      teamId: team_id,
      changedBy: changed_by,
      createdAtMs: created_at_ms,
    })),
    // Member by member: there are many of these at every start, and taking the rest of a row doubles what one costs.
    installations: installations.map((row) => ({
      id: row.id,
      teamId: row.team_id,
      templateId: row.template_id,
      templateVersion: row.template_version,
      slug: row.slug,
      name: row.name,
      scope: row.scope,
      config: row.config,
      locks: row.locks,
      settings: row.settings,
      enabled: row.enabled !== 0,
      revision: row.revision,
      changedBy: row.changed_by,
      createdAtMs: row.created_at_ms,
    })),
    personal: personal.map(({ installation_id, membership_id, ...row }) => ({
      ...row,
      installationId: installation_id,
      membershipId: membership_id,
    })),
    secrets: secrets.map(
      ({ team_id, installation_id, membership_id, key_id, created_at_ms, updated_at_ms, used_at_ms, ...row }) => ({
        ...row,
        teamId: team_id,
        installationId: installation_id,
        membershipId: membership_id,
        keyId: key_id,
        createdAtMs: created_at_ms,
        updatedAtMs: updated_at_ms,
        usedAtMs: used_at_ms,
      }),
    ),
    dataKeys: dataKeys.map(({ team_id, created_at_ms, ...row }) => ({
      ...row,
      teamId: team_id,
      createdAtMs: created_at_ms,
    })),
  };
}

/** Inside a transaction. */
export async function writeInstalls(db: Db, writes: InstallWrites): Promise<void> {
  for (const query of installQueries(db, writes)) await db.executeQuery(query);
}

/** Uses of secrets that are gone by now are ignored. */
export async function noteSecretUses(db: Db, uses: readonly SecretUse[]): Promise<void> {
  for (const { id, usedAtMs } of uses)
    await db.updateTable("secret").set({ used_at_ms: usedAtMs }).where("id", "=", id).execute();
}

/** In this order. */
function installQueries(db: Db, writes: InstallWrites): readonly CompiledQuery[] {
  const { templates = [], installations = [], personal = [], secrets = [], dataKeys = [] } = writes;
  return [
    ...goneQueries(db, writes),
    ...templates.map(({ teamId, byAdmin, changedBy, createdAtMs, ...row }) => {
      const about = { team_id: teamId, changed_by: changedBy, created_at_ms: createdAtMs };
      return putQuery(db, "template", { ...row, ...about, by_admin: byAdmin ? 1 : 0 });
    }),
    ...installations.map(({ teamId, templateId, templateVersion, enabled, changedBy, createdAtMs, ...row }) => {
      const template = { template_id: templateId, template_version: templateVersion };
      const about = { team_id: teamId, changed_by: changedBy, created_at_ms: createdAtMs };
      return putQuery(db, "installation", { ...row, ...template, ...about, enabled: enabled ? 1 : 0 });
    }),
    ...personal.map(({ installationId, membershipId, ...row }) =>
      putQuery(db, "personal_config", { ...row, installation_id: installationId, membership_id: membershipId }),
    ),
    ...dataKeys.map(({ teamId, createdAtMs, ...row }) =>
      putQuery(db, "data_key", { ...row, team_id: teamId, created_at_ms: createdAtMs }),
    ),
    ...secrets.map(({ teamId, installationId, membershipId, keyId, createdAtMs, updatedAtMs, usedAtMs, ...row }) => {
      const owner = { team_id: teamId, installation_id: installationId, membership_id: membershipId };
      const times = { created_at_ms: createdAtMs, updated_at_ms: updatedAtMs, used_at_ms: usedAtMs };
      return putQuery(db, "secret", { ...row, ...owner, ...times, key_id: keyId });
    }),
    ...(writes.goneDataKeys ?? []).map((id) => db.deleteFrom("data_key").where("id", "=", id).compile()),
  ];
}

function goneQueries(
  db: Db,
  { goneTemplates, goneInstallations, gonePersonal, goneSecrets }: InstallWrites,
): readonly CompiledQuery[] {
  return [
    ...(goneTemplates ?? []).map((id) => db.deleteFrom("template").where("id", "=", id).compile()),
    ...(goneInstallations ?? []).flatMap((id) => [
      db.deleteFrom("installation").where("id", "=", id).compile(),
      db.deleteFrom("personal_config").where("installation_id", "=", id).compile(),
      db.deleteFrom("secret").where("installation_id", "=", id).compile(),
    ]),
    ...(gonePersonal ?? []).map(({ installationId, membershipId }) =>
      db
        .deleteFrom("personal_config")
        .where("installation_id", "=", installationId)
        .where("membership_id", "=", membershipId)
        .compile(),
    ),
    ...(goneSecrets ?? []).map((id) => db.deleteFrom("secret").where("id", "=", id).compile()),
  ];
}

type PutTable = "template" | "installation" | "personal_config" | "data_key" | "secret";

const keys: Readonly<Record<PutTable, readonly string[]>> = {
  template: ["id"],
  installation: ["id"],
  personal_config: ["installation_id", "membership_id"],
  data_key: ["id"],
  secret: ["id"],
};

/** A row that is new, or takes the place of the one with its key. */
function putQuery<Table extends PutTable>(db: Db, table: Table, row: StateTables[Table]): CompiledQuery {
  const others = Object.fromEntries(Object.entries(row).filter(([column]) => !keys[table].includes(column)));
  // Which columns a table has is known to the caller's row, and not to a table that is chosen by name.
  const open = db as unknown as Kysely<Record<string, Record<string, unknown>>>;
  const insert = open.insertInto(table as string).values({ ...row });
  return insert.onConflict((conflict) => conflict.columns([...keys[table]]).doUpdateSet(others)).compile();
}
