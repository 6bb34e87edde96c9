import { sql, type Kysely, type RawBuilder } from "kysely";
import { clockToleranceMs, idAt } from "./record-ids.ts";
import type { AuditChain } from "../state/audit.ts";
import type { RetentionLimits } from "../requests/retention-limits.ts";
import type { RecordsTables } from "../tables.ts";

const dayMs = 24 * 3_600_000;

/** Rows that go in one transaction, in which nothing else is written: 4 ms, and 70 when the log is emptied with it. */
const pieceRows = 1_000;
/** No row of `request_log` is smaller, so a smaller file cannot have too many. Counting a million takes 0.1 s. */
const smallestRowBytes = 60;

/** As many as one person begins in a year, and 10 MB. */
const keptSessions = 100_000;
/** What was spent on finding is told of today only; time zones and clocks are given a day. */
const spentMs = 2 * dayMs;

/** Deletes rows that are too old, or too many, in one piece. False when there is nothing more to delete. */
export type RetentionStep = () => boolean | Promise<boolean>;

/** The records, in whichever database they are. */
export interface RetainedRecords {
  /** Runs queries in one transaction. */
  readonly transact: <T>(run: (db: Kysely<RecordsTables>) => Promise<T>) => Promise<T>;
  /** What `request_log` takes on the disk, at most. */
  readonly requestBytes: () => Promise<number>;
}

/** One round of deleting. Each step is to be repeated until it says that it is done, with pauses. */
export function retentionSteps(
  { transact, requestBytes }: RetainedRecords,
  limits: RetentionLimits,
  nowMs: number,
): readonly RetentionStep[] {
  const deletePiece = (statement: RawBuilder<unknown>) => async (): Promise<boolean> =>
    await transact(async (db) => (await statement.execute(db)).numAffectedRows === BigInt(pieceRows));
  const deleteIds = (table: string, comparison: "<" | ">", id: number): RetentionStep => {
    const name = sql.table(table);
    return deletePiece(sql`delete from ${name} where id in
      (select id from ${name} where id ${sql.raw(comparison)} ${id} order by id limit ${pieceRows})`);
  };
  const tables = ["request_log", "request_body", "server_log", "event", "finding_session"];
  return [
    deleteIds("request_body", "<", idAt(nowMs - limits.bodyMs)),
    deleteIds("request_log", "<", idAt(nowMs - limits.requestMs)),
    deleteIds("server_log", "<", idAt(nowMs - limits.logMs)),
    deleteIds("event", "<", idAt(nowMs - limits.eventMs)),
    // Of a time when the clock was wrong.
    ...tables.map((table) => deleteIds(table, ">", idAt(nowMs + clockToleranceMs))),
    deleteIds("finding_session", "<", idAt(nowMs - limits.sessionMs)),
    deletePiece(sql`delete from finding_session where id in
      (select id from finding_session order by id desc limit ${pieceRows} offset ${keptSessions})`),
    deletePiece(sql`delete from finding_day where (day_ms, life, principal) in
      (select day_ms, life, principal from finding_day where day_ms < ${nowMs - spentMs}
        order by day_ms limit ${pieceRows})`),
    deletePiece(sql`delete from usage_hour where (hour_ms, team, principal, instance, tool, client, code) in
      (select hour_ms, team, principal, instance, tool, client, code from usage_hour
        where hour_ms < ${nowMs - limits.usageMs} order by hour_ms limit ${pieceRows})`),
    // Usage is kept the longest of what names instances.
    deletePiece(sql`delete from known_instance where instance in
      (select instance from known_instance where seen_ms < ${nowMs - limits.usageMs} limit ${pieceRows})`),
    deleteSurplus({ transact, requestBytes }, limits.requests),
  ];
}

/**
 * Removes old entries of the audit. As each time is an entry itself, it waits until there is a day's worth of them, or
 * a thirtieth of the time for which they are kept.
 *
 * @param isFree whether no one reads the chain as a whole just now
 */
export function auditStep(
  chain: Pick<AuditChain, "oldestMs" | "prune">,
  { auditMs, nowMs, isFree }: { readonly auditMs: number; readonly nowMs: number; readonly isFree: () => boolean },
): RetentionStep {
  const spareMs = Math.min(dayMs, auditMs / 30);
  let hasBegun = false;
  return async () => {
    if (auditMs === Number.POSITIVE_INFINITY || !isFree()) return false;
    hasBegun ||= ((await chain.oldestMs()) ?? nowMs) < nowMs - auditMs - spareMs;
    return hasBegun && isFree() && (await chain.prune(nowMs - auditMs, nowMs));
  };
}

function deleteSurplus({ transact, requestBytes }: RetainedRecords, kept: number): RetentionStep {
  let upTo: number | undefined;
  return async () => {
    if (upTo === undefined) {
      if ((await requestBytes()) < kept * smallestRowBytes) return false;
      const newest = async (db: Kysely<RecordsTables>) =>
        await db.selectFrom("request_log").select("id").orderBy("id", "desc").limit(1).offset(kept).executeTakeFirst();
      upTo = (await transact(newest))?.id;
      if (upTo === undefined) return false;
    }
    const piece = sql`(select id from request_log where id <= ${upTo} order by id limit ${pieceRows})`;
    return await transact(async (db) => {
      await sql`delete from request_body where id in ${piece}`.execute(db);
      const deleted = await sql`delete from request_log where id in ${piece}`.execute(db);
      return deleted.numAffectedRows === BigInt(pieceRows);
    });
  };
}

interface RoundParts {
  readonly limits: RetentionLimits;
  /** Undefined while it cannot be used. */
  readonly records: () => RetainedRecords | undefined;
  /** Undefined while it cannot be used. */
  readonly chain: () => AuditChain | undefined;
  /** Whether no one reads the chain as a whole just now. */
  readonly isFree: () => boolean;
}

/**
 * Deletes one piece of the rows that are too old at each call. False when there is nothing more, until the next round.
 */
export function createRetentionRounds({ limits, records, chain, isFree }: RoundParts): () => Promise<boolean> {
  let round: RetentionStep[] | undefined;

  function begin(): RetentionStep[] {
    const nowMs = Date.now();
    const [kept, audit] = [records(), chain()];
    return [
      ...(kept === undefined ? [] : retentionSteps(kept, limits, nowMs)),
      ...(audit === undefined ? [] : [auditStep(audit, { auditMs: limits.auditMs, nowMs, isFree })]),
    ];
  }

  return async () => {
    round ??= begin();
    const [step] = round;
    try {
      if (step !== undefined && !(await step())) round.shift();
    } catch (error) {
      // The next round begins with the databases as they are then.
      round = undefined;
      throw error;
    }
    if (round.length > 0) return true;
    round = undefined;
    return false;
  };
}
