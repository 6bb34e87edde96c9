import type { Kysely } from "kysely";
import {
  purgeAccess,
  readAccess,
  readGrant,
  readIdentities,
  readIdentity,
  readItem,
  readItems,
  readPassword,
  readSetup,
  Spent,
  writeAccess,
} from "./access-tables.ts";
import { readApprovals, writeApprovals } from "./approval-tables.ts";
import { readClaimed, writeClaims } from "./claim-tables.ts";
import { readAudits, type AuditChain } from "./audit.ts";
import { keepSearch, readKeptSearches, removeKeptSearch, choosePins, readPins } from "./member-tables.ts";
import { readPeople, usePats, writePeople } from "./people-tables.ts";
import type { AuditPlace } from "../../record-store.ts";
import type { AnswersFrom } from "../sql-messages.ts";
import { SpentLink } from "../store-refusal.ts";
import { installTables, type InstallRows, type InstallWrites, type SecretUse } from "../../install-rows.ts";
import { putRow } from "./state-rows.ts";
import { forgetAttempts, readShared, takeAttempts, writeShared } from "./shared-tables.ts";
import type { StateTables, Transact } from "../tables.ts";

type Db = Kysely<StateTables>;

const { data_key, installation, personal_config, secret, template } = installTables;

/** Everything of teams' servers. */
async function readInstalls(db: Db): Promise<InstallRows> {
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
async function writeInstalls(db: Db, writes: InstallWrites): Promise<void> {
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
async function noteSecretUses(db: Db, uses: readonly SecretUse[]): Promise<void> {
  for (const { id, usedAtMs } of uses)
    await db.updateTable("secret").set({ used_at_ms: usedAtMs }).where("id", "=", id).execute();
}

/**
 * The state (people, rights, audit), open, in whichever database it is. Everything that is kept there is written once,
 * for SQLite and PostgreSQL alike, as queries of Kysely.
 *
 * To keep something new, which here is called `shelf`:
 *
 * 1. A step `migrations/state-NNNN.ts`, and its line in `schema-steps.ts`. Columns are `text` (ids, JSON) and
 *    `integer` (times in ms, counts, and 0 or 1 for truth; it has 64 bits in both databases); foreign keys with
 *    `onDelete`; nothing that only one of the databases has, but for `modifyEnd(sql`strict`)`, which PostgreSQL is not
 *    told.
 * 2. The rows that travel between threads in `../shelf-rows.ts`, and the columns in `tables.ts`.
 * 3. `shelf-tables.ts` with `readShelf(db)` and `writeShelf(db, writes)`. Each takes a Kysely, awaits its queries
 *    one after the other, and knows nothing of transactions: `writeShelf` is given one that has begun, in which reads
 *    see what was written before and no one else writes. When it throws, nothing of the change stays. Values are texts,
 *    numbers and null, no booleans.
 * 4. The questions, in a table `shelfQuestions` beside the rows, which is part of `questions` in `sql-messages.ts`;
 *    each is answered in `stateReads` or `stateWrites` below. What changes state goes through
 *    `chain.appendWith`, so that the change and its entries in the audit are on the disk together.
 * 5. `readonly shelf: Asked<typeof shelfQuestions>` in `../../record-store.ts`, and `toAsked` in `sql-store.ts`.
 *
 * A further question of a table that exists is a row of that table, its answer, and the function that reads or writes.
 */
export interface StateDatabase {
  /** For reading: each query by itself. */
  readonly db: Kysely<StateTables>;
  readonly chain: AuditChain;
  /** For writing without an entry in the audit. */
  readonly transact: Transact;
}

/** How questions are answered from the state. */
type Answers = AnswersFrom<StateDatabase>;

/** Those that only read. */
export const stateReads = {
  audits: async ({ db }, query) => await readAudits(db, query),
  approvals: async ({ db }, ids) => await readApprovals(db, ids),
  claimed: async ({ db }, ask) => await readClaimed(db, ask),
  people: async ({ db }) => await readPeople(db),
  installs: async ({ db }) => await readInstalls(db),
  access: async ({ db }, nowMs) => await readAccess(db, nowMs),
  grant: async ({ db }, id) => await readGrant(db, id),
  oauthItems: async ({ db }, question) => await readItems(db, question),
  oauthItem: async ({ db }, question) => await readItem(db, question),
  password: async ({ db }, userId) => await readPassword(db, userId),
  setupLink: async ({ db }, hash) => await readSetup(db, hash),
  identity: async ({ db }, place) => await readIdentity(db, place),
  identities: async ({ db }, userId) => await readIdentities(db, userId),
  keptSearches: async ({ db }, person) => await readKeptSearches(db, person),
  pins: async ({ db }, person) => await readPins(db, person),
  shared: async ({ db }, query) => await readShared(db, query),
} satisfies Answers;

/** Those that write: what they wrote is on the disk when they are answered. */
export const stateWrites = {
  auditAll: async ({ chain }, entries) => await chain.append(entries),
  async changePeople({ chain }, { writes, entry, access }) {
    try {
      const [place] = await chain.appendWith([entry], async (db) => {
        await writePeople(db, writes);
        await writeAccess(db, access);
      });
      return place as AuditPlace;
    } catch (error) {
      throw error instanceof Spent ? new SpentLink() : error;
    }
  },
  async changeInstalls({ chain }, { writes, entry }) {
    const [place] = await chain.appendWith([entry], async (db) => await writeInstalls(db, writes));
    return place as AuditPlace;
  },
  useSecrets: async ({ transact }, uses) => await transact(async (db) => await noteSecretUses(db, uses)),
  async changeAccess({ chain }, { writes, people, entries }) {
    try {
      await chain.appendWith(entries, async (db) => {
        await writePeople(db, people);
        await writeAccess(db, writes);
      });
      return { isDone: true };
    } catch (error) {
      if (error instanceof Spent) return { isDone: false };
      throw error;
    }
  },
  purgeAccess: async ({ transact }, nowMs) => await transact(async (db) => await purgeAccess(db, nowMs)),
  // Entries in the audit are made of the events.
  changeApprovals: async ({ transact }, writes) => ({
    isDone: await transact(async (db) => await writeApprovals(db, writes)),
  }),
  claim: async ({ transact }, ask) => await transact(async (db) => await writeClaims(db, ask)),
  // Without an entry in the audit: what somebody notes for themselves changes nothing for anybody.
  keepSearch: async ({ transact }, question) => await transact(async (db) => await keepSearch(db, question)),
  removeKeptSearch: async ({ transact }, question) =>
    await transact(async (db) => await removeKeptSearch(db, question)),
  choosePins: async ({ transact }, question) => await transact(async (db) => await choosePins(db, question)),
  usePats: async ({ transact }, uses) => await transact(async (db) => await usePats(db, uses)),
  // Logins, tokens and browsers are in the audit by their own events.
  async changeShared({ transact }, writes) {
    await transact(async (db) => await writeShared(db, writes));
    return {};
  },
  takeAttempts: async ({ transact }, ask) => await transact(async (db) => await takeAttempts(db, ask)),
  forgetAttempts: async ({ transact }, keys) => await transact(async (db) => await forgetAttempts(db, keys)),
} satisfies Answers;
