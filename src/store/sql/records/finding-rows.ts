import type { Kysely } from "kysely";
import type { SessionRecord, SpentDay } from "../../record-rows.ts";
import { mostSessions, type FindingQuery, type FindingRows } from "../../record-store.ts";
import { prepareQuery, runWith, type RowWriter } from "../row-writer.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

/** A session is written again whenever its figures have changed. */
export function createSessionWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<SessionRecord> {
  const row = { id: 0, principal: "", client: null, exposure: "", started_ms: 0, is_lazy: 0, saved: null };
  const replace = db.replaceInto("finding_session").values({ ...row, is_exact: 0, spent: 0 });
  const statement = prepareQuery(database, replace.compile());
  return {
    write({ id, principal, client, exposure, startedMs, isLazy, saved, isExact, spent }) {
      runWith(statement, [id, principal, client, exposure, startedMs, isLazy, saved, isExact, spent]);
    },
  };
}

/** A day of one life is written again whenever it has grown. */
export function createSpentWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<SpentDay> {
  const key = { day_ms: 0, life: "", principal: "", since_ms: 0 };
  const counts = { answers: 0, answer_tokens: 0, wrapped_calls: 0, wrapping_tokens: 0 };
  const statement = prepareQuery(
    database,
    db
      .replaceInto("finding_day")
      .values({ ...key, ...counts })
      .compile(),
  );
  return {
    write({ dayMs, life, principal, sinceMs, answers, answerTokens, wrappedCalls, wrappingTokens }) {
      runWith(statement, [dayMs, life, principal, sinceMs, answers, answerTokens, wrappedCalls, wrappingTokens]);
    },
  };
}

export async function readFinding(
  db: Kysely<RecordsTables>,
  { fromMs, dayMs, exposure, principal }: FindingQuery,
): Promise<FindingRows> {
  let sessions = db.selectFrom("finding_session").selectAll().where("started_ms", ">=", fromMs);
  let spent = db.selectFrom("finding_day").selectAll().where("day_ms", "=", dayMs);
  if (principal !== undefined) {
    sessions = sessions.where("principal", "=", principal);
    spent = spent.where("principal", "=", principal);
  }
  const found = await sessions.where("exposure", "=", exposure).orderBy("id", "desc").limit(mostSessions).execute();
  const days = await spent.limit(mostSessions).execute();
  return {
    sessions: found.map(({ started_ms: startedMs, is_lazy, is_exact, ...row }) => ({
      ...row,
      startedMs,
      isLazy: is_lazy === 1,
      isExact: is_exact === 1,
    })),
    spent: days.map((row) => ({
      dayMs: row.day_ms,
      life: row.life,
      principal: row.principal,
      sinceMs: row.since_ms,
      answers: row.answers,
      answerTokens: row.answer_tokens,
      wrappedCalls: row.wrapped_calls,
      wrappingTokens: row.wrapping_tokens,
    })),
  };
}
