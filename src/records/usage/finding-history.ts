import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { SessionRecord } from "../../store/record-rows.ts";
import type { FindingRows, RecordStore } from "../../store/record-store.ts";
import type { FindingSpent } from "./finding-spent.ts";
import type { Finding, FindingSession } from "./finding.ts";
import type { TokenSum } from "./list-costs.ts";

/**
 * The tokens that finding tools saved and cost, over the lives of the gateway: those measured now, and those written by
 * earlier lives. Disposing writes all pending counts; do so before the store is closed.
 */
export interface FindingHistory extends Disposable {
  /** Where there is no store, and where it cannot be read, only of what this gateway measured. */
  read(query: FindingAsk): Promise<FindingFacts>;
  /** Hands what changed to the store, as happens every minute. */
  write(): void;
}

export interface FindingAsk {
  readonly exposure: string;
  /** Undefined for everybody's. */
  readonly principal: string | undefined;
}

export interface FindingFacts {
  /** When counting of what was spent today began. */
  readonly sinceMs: number;
  /** Several rows of one person, where several lives of the gateway have counted. */
  readonly spent: readonly FindingSpent[];
  /** Of the last thirty days. */
  readonly sessions: readonly MeasuredSession[];
}

export type MeasuredSession = Pick<FindingSession, "client" | "startedMs" | "isLazy" | "saved" | "spent">;

export interface FindingHistoryDeps {
  readonly finding: Pick<Finding, "today" | "sessions">;
  readonly clock: Clock;
  /** Undefined while there is none. */
  readonly store: () => Pick<RecordStore, "append" | "nextId" | "finding" | "health"> | undefined;
}

/** What a crash loses is at most this much of what was spent. */
export const findingWriteMs = 60_000;
const dayMs = 86_400_000;
const toldMs = 30 * dayMs;

/** Client names are untrusted, and have no limit of their own here. */
const longestName = 64;

export function createFindingHistory({ finding, clock, store }: FindingHistoryDeps): FindingHistory {
  // Each life writes its own rows, and replaces them: nothing is counted twice, whatever was lost on the way.
  const life = randomBytes(6).toString("hex");
  const ids = new WeakMap<FindingSession, number>();
  const writtenSessions = new WeakMap<FindingSession, string>();
  const writtenDays = new WeakMap<FindingSpent, string>();

  function write(): void {
    const target = store();
    const status = target?.health().status;
    if (target === undefined || status === "opening" || status === "closed") return;
    for (const session of finding.sessions()) {
      const state = stateOf(session);
      if (writtenSessions.get(session) === state) continue;
      const id = ids.get(session) ?? target.nextId();
      if (!target.append("session", toRecord(session, id))) return;
      ids.set(session, id);
      writtenSessions.set(session, state);
    }
    const { sinceMs, spent } = finding.today();
    const today = midnightOf(clock.now());
    for (const row of spent) {
      const state = `${row.answers} ${row.wrappedCalls}`;
      if (writtenDays.get(row) === state) continue;
      if (!target.append("spent", { ...row, dayMs: today, life, sinceMs })) return;
      writtenDays.set(row, state);
    }
  }

  async function readWritten({ exposure, principal }: FindingAsk): Promise<FindingRows> {
    const now = clock.now();
    try {
      const asked = { fromMs: now - toldMs, dayMs: midnightOf(now), exposure, principal };
      return (await store()?.finding(asked)) ?? nothing;
    } catch (error) {
      const { code } = toGatewayError(error);
      if (code !== "STORE_UNAVAILABLE" && code !== "DRAINING") throw error;
      return nothing;
    }
  }

  let cancel = clock.after(findingWriteMs, tick);
  function tick(): void {
    write();
    cancel = clock.after(findingWriteMs, tick);
  }

  return {
    async read(query) {
      const written = await readWritten(query);
      const isAskedFor = (row: { readonly principal: string }): boolean =>
        query.principal === undefined || row.principal === query.principal;
      const fromMs = clock.now() - toldMs;
      const own = finding.sessions();
      const ownIds = new Set(own.map((session) => ids.get(session)));
      const today = finding.today();
      const others = written.spent.filter((row) => row.life !== life);
      return {
        sinceMs: Math.min(today.sinceMs, ...others.map(({ sinceMs }) => sinceMs)),
        spent: [...others, ...today.spent.filter(isAskedFor)],
        sessions: [
          ...written.sessions.filter(({ id }) => !ownIds.has(id)).map(fromRecord),
          ...own.filter((row) => isAskedFor(row) && row.exposure === query.exposure && row.startedMs >= fromMs),
        ],
      };
    },
    write,
    [Symbol.dispose]() {
      cancel();
      write();
    },
  };
}

const nothing: FindingRows = { sessions: [], spent: [] };

function midnightOf(atMs: number): number {
  return Math.floor(atMs / dayMs) * dayMs;
}

function stateOf({ saved, spent }: FindingSession): string {
  return `${saved?.tokens} ${saved?.isExact} ${spent}`;
}

function toRecord(session: FindingSession, id: number): SessionRecord {
  const { principal, client, exposure, startedMs, isLazy, saved, spent } = session;
  const name = client?.slice(0, longestName) ?? null;
  const figures = { saved: saved?.tokens ?? null, isExact: saved?.isExact === true, spent };
  return { id, principal, client: name, exposure, startedMs, isLazy, ...figures };
}

function fromRecord({ client, startedMs, isLazy, saved, isExact, spent }: SessionRecord): MeasuredSession {
  return { client, startedMs, isLazy, saved: saved === null ? undefined : { tokens: saved, isExact }, spent };
}

/** What today's conversations did not have to read. */
export interface SavedToday extends TokenSum {
  /** Conversations of which it is known what they saved. */
  readonly sessions: number;
  /** Those of clients that keep definitions from their models automatically: their savings are unknown. */
  readonly unknown: number;
}

/**
 * What was saved at the start of each conversation since `sinceMs`, less what finding tools cost in it. Negative where
 * finding cost more.
 */
export function sumSaved(sessions: readonly FindingSession[], sinceMs: number): SavedToday {
  const known = sessions.flatMap(({ startedMs, isLazy, saved, spent }) =>
    startedMs < sinceMs || isLazy || saved === undefined ? [] : [{ saved, spent }],
  );
  return {
    sessions: known.length,
    unknown: sessions.filter(({ startedMs, isLazy }) => isLazy && startedMs >= sinceMs).length,
    tokens: known.reduce((sum, { saved, spent }) => sum + saved.tokens - spent, 0),
    isExact: known.every(({ saved, spent }) => saved.isExact && spent === 0),
  };
}
