import type { accessTables } from "../access-rows.ts";
import type { installTables } from "../install-rows.ts";
import type { peopleTables } from "../people-rows.ts";
import type { KeptTables } from "../state-table.ts";
import type { Kysely } from "kysely";

/** Columns as they are in the databases: integers, texts and null. Times are ms, truth is 0 or 1. */

/** `records.db`: may be lost, is kept for a while. */
export interface RecordsTables {
  readonly request_log: RequestLogTable;
  readonly request_backlog: RequestBacklogTable;
  readonly request_body: RequestBodyTable;
  readonly server_log: ServerLogTable;
  readonly usage_hour: UsageHourTable;
  readonly event: EventTable;
  readonly tool_metadata: ToolMetadataTable;
  readonly known_instance: { instance: string; installation: string; seen_ms: number };
  readonly finding_session: FindingSessionTable;
  readonly finding_day: FindingDayTable;
  readonly meta: MetaTable;
}

/** `state.db`: never lost without being said. */
export interface StateTables extends KeptTables<typeof accessTables & typeof peopleTables & typeof installTables> {
  readonly audit: AuditTable;
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

interface RequestLogTable {
  id: number;
  at_ms: number;
  team: string | null;
  principal: string;
  client: string | null;
  instance: string;
  server: string;
  via: string;
  method: string;
  name: string;
  outcome: string;
  code: string | null;
  duration_ms: number;
  wait_ms: number;
  argument_tokens: number;
  result_tokens: number;
  result_cut: number;
  /** Since step 0002. */
  trace_id: string | null;
  /** Since step 0007. */
  message: string | null;
}

/** Batches whose rows are written later. */
interface RequestBacklogTable {
  last_id: number;
  rows: number;
  text: string;
}

/** Apart, so that lists never read what was said, and it can be forgotten earlier. */
interface RequestBodyTable {
  id: number;
  instance: string;
  arguments: string;
  arguments_cut: number;
  result: string;
  result_cut: number;
}

interface ServerLogTable {
  id: number;
  at_ms: number;
  team: string | null;
  instance: string;
  server: string;
  /** Place in `logLevels`. */
  level: number;
  line: string;
}

/** Texts that are not there are "": null equals nothing in a key. */
interface UsageHourTable {
  hour_ms: number;
  team: string;
  principal: string;
  instance: string;
  server: string;
  tool: string;
  client: string;
  code: string;
  calls: number;
  duration_ms_sum: number;
  duration_ms_max: number;
  argument_tokens: number;
  result_tokens: number;
  cut: number;
  b0: number;
  b1: number;
  b2: number;
  b3: number;
  b4: number;
  b5: number;
  b6: number;
  b7: number;
  b8: number;
  b9: number;
  b10: number;
  b11: number;
}

export const bucketColumns = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11"] as const;

interface EventTable {
  id: number;
  at_ms: number;
  type: string;
  team: string | null;
  principal: string | null;
  installation: string | null;
  instance: string | null;
  server: string | null;
  detail: string;
}

interface ToolMetadataTable {
  installation: string;
  path: string;
  server: string;
  description: string;
  schema_hash: string;
  tokens: number;
  discovered_at_ms: number;
}

interface FindingSessionTable {
  id: number;
  principal: string;
  client: string | null;
  exposure: string;
  started_ms: number;
  is_lazy: number;
  saved: number | null;
  is_exact: number;
  spent: number;
}

interface FindingDayTable {
  day_ms: number;
  life: string;
  principal: string;
  since_ms: number;
  answers: number;
  answer_tokens: number;
  wrapped_calls: number;
  wrapping_tokens: number;
}

interface AuditTable {
  seq: number;
  at_ms: number;
  actor: string;
  via: string;
  team: string | null;
  action: string;
  object: string;
  outcome: string;
  ip: string | null;
  detail: string;
  prev: string;
  hash: string;
}

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
