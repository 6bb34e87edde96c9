import type { Kysely } from "kysely";
import type { AuditChain } from "./audit.ts";
import type { StateTables, Transact } from "../tables.ts";

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
 *    each is answered in `stateReads` or `stateWrites` of `state-answers.ts`. What changes state goes through
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
