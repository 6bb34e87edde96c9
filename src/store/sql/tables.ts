import type { accessTables } from "../access-rows.ts";
import type { approvalTables } from "../approval-rows.ts";
import type { installTables } from "../install-rows.ts";
import type { peopleTables } from "../people-rows.ts";
import type { auditTables, recordTables } from "../record-rows.ts";
import type { claimTables, sharedTables } from "../shared.ts";
import type { KeptTables } from "../state-table.ts";
import type { Kysely } from "kysely";

/** Questions whose changes other gateways of the same database are told of. */
export const toldKinds = [
  "changePeople",
  "changeInstalls",
  "changeAccess",
  "changeApprovals",
  "changeShared",
  "claim",
] as const;
export type ToldKind = (typeof toldKinds)[number];

/** Columns as they are in the databases: integers, texts and null. Times are ms, truth is 0 or 1. */

/** `records.db`: may be lost, is kept for a while. */
export interface RecordsTables extends Omit<RecordTables, "usage_hour"> {
  readonly usage_hour: RecordTables["usage_hour"] & Record<(typeof bucketColumns)[number], number>;
  readonly request_backlog: RequestBacklogTable;
  readonly meta: MetaTable;
}

type RecordTables = KeptTables<typeof recordTables>;

/** `state.db`: never lost without being said. */
export interface StateTables extends KeptTables<
  typeof accessTables &
    typeof approvalTables &
    typeof claimTables &
    typeof peopleTables &
    typeof installTables &
    typeof sharedTables &
    typeof auditTables
> {
  readonly meta: MetaTable;
  readonly change: ChangeTable;
  readonly kept_search: KeptSearchTable;
  readonly member_pins: MemberPinsTable;
}

interface MemberPinsTable {
  membership_id: string;
  /** JSON. */
  pins: string;
}

/** Batches whose rows are written later. */
interface RequestBacklogTable {
  last_id: number;
  rows: number;
  text: string;
}

export const bucketColumns = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11"] as const;

/** For other gateways of the same database. */
interface ChangeTable {
  seq: number;
  at_ms: number;
  /** The gateway that made it. */
  origin: string;
  /** The question that changed something. */
  kind: string;
  /** What was written, as JSON; "" where it has to be read again. */
  detail: string;
}

interface KeptSearchTable {
  id: string;
  membership_id: string;
  query: string;
  tool: string;
  rank: number | null;
  kept_at_ms: number;
}

interface MetaTable {
  key: string;
  value: string;
}

/**
 * Runs all queries of `run` in one transaction of a writer: no one else writes meanwhile, of this gateway or of
 * another. What it wrote is on the disk when it resolves; when `run` rejects, nothing of it is.
 */
export type Transact = <T>(run: (db: Kysely<StateTables>) => Promise<T>) => Promise<T>;
