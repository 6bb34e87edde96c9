import type { Kysely } from "kysely";
import { installTables, type InstallRows, type InstallWrites, type SecretUse } from "../../install-rows.ts";
import { putRow } from "./state-rows.ts";
import type { StateTables } from "../tables.ts";

type Db = Kysely<StateTables>;

const { data_key, installation, personal_config, secret, template } = installTables;

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
    templates: templates.map(template.toRow),
    installations: installations.map(installation.toRow),
    personal: personal.map(personal_config.toRow),
    secrets: secrets.map(secret.toRow),
    dataKeys: dataKeys.map(data_key.toRow),
  };
}

/** Inside a transaction. */
export async function writeInstalls(db: Db, writes: InstallWrites): Promise<void> {
  for (const id of writes.goneTemplates ?? []) await db.deleteFrom("template").where("id", "=", id).execute();
  for (const id of writes.goneInstallations ?? []) {
    await db.deleteFrom("installation").where("id", "=", id).execute();
    await db.deleteFrom("personal_config").where("installation_id", "=", id).execute();
    await db.deleteFrom("secret").where("installation_id", "=", id).execute();
  }
  for (const { installationId, membershipId } of writes.gonePersonal ?? []) {
    const ofInstallation = db.deleteFrom("personal_config").where("installation_id", "=", installationId);
    await ofInstallation.where("membership_id", "=", membershipId).execute();
  }
  for (const id of writes.goneSecrets ?? []) await db.deleteFrom("secret").where("id", "=", id).execute();
  for (const row of writes.templates ?? []) await putRow(db, "template", row, { by: ["id"] });
  for (const row of writes.installations ?? []) await putRow(db, "installation", row, { by: ["id"] });
  for (const row of writes.personal ?? [])
    await putRow(db, "personal_config", row, { by: ["installation_id", "membership_id"] });
  for (const row of writes.dataKeys ?? []) await putRow(db, "data_key", row, { by: ["id"] });
  for (const row of writes.secrets ?? []) await putRow(db, "secret", row, { by: ["id"] });
  for (const id of writes.goneDataKeys ?? []) await db.deleteFrom("data_key").where("id", "=", id).execute();
}

/** Uses of secrets that were removed meanwhile are ignored. */
export async function noteSecretUses(db: Db, uses: readonly SecretUse[]): Promise<void> {
  for (const { id, usedAtMs } of uses)
    await db.updateTable("secret").set({ used_at_ms: usedAtMs }).where("id", "=", id).execute();
}
