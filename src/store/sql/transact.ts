import type { Kysely } from "kysely";
import type { StateTables } from "./tables.ts";

/**
 * Runs all queries of `run` in one transaction of a writer: no one else writes meanwhile, of this gateway or of
 * another. What it wrote is on the disk when it resolves; when `run` rejects, nothing of it is.
 */
export type Transact = <T>(run: (db: Kysely<StateTables>) => Promise<T>) => Promise<T>;
