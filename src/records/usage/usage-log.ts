import type { EventOf } from "../../kernel/events/event.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { RecordStore, StoreHealth, UsageQuery, UsageSum } from "../../store/record-store.ts";
import { createCallMinutes, type CallMinute, type MinutesAsk } from "../calls/call-minutes.ts";
import { flushRecent } from "../calls/record-history.ts";
import {
  mergeSums,
  sumRows,
  type InstallationOf,
  clearCounts,
  createUsageRows,
  hourOf,
  usageLimits,
  type UsageRow,
  type UsageRows,
} from "./usage-rows.ts";

/** Who used what, by the hour. Disposing writes all pending counts; do so before the store is closed. */
export interface Usage extends Disposable {
  /**
   * Sums of what was written and of what still waits. Where there is no store, and where it cannot be read, only of
   * what this gateway still knows: `sinceMs` tells from when.
   */
  read(query: UsageQuery): Promise<UsageAnswer>;
  /** Calls of the last hour by the minute, at this gateway since `startedMs`. */
  minutes(ask: MinutesAsk): readonly CallMinute[];
  /** Wall clock. */
  readonly startedMs: number;
  /** Hands what waits to the store, as happens every minute. */
  write(): void;
}

export interface UsageAnswer {
  readonly sums: readonly UsageSum[];
  /** Wall clock. What was before it is not in the sums; null where everything that was ever written is. */
  readonly sinceMs: number | null;
}

export interface UsageDeps {
  readonly events: Pick<EventBus, "on">;
  readonly clock: Clock;
  /** Undefined while there is none. */
  readonly store: () => UsageStore | undefined;
  readonly installationOf: InstallationOf;
}

type UsageStore = Pick<RecordStore, "append" | "flush" | "usage" | "health" | "isShared">;

/** How often counts are written. What a crash loses is at most this much of them. */
export const usageWriteMs = 60_000;
/** Rows of past hours that are kept where there is no store: the oldest hours are forgotten. 10 MB. */
const mostKeptRows = 20_000;
/** Of the store's answers, before what waits is added. */
const mostGroups = 10_000;

/** Returns what ends it. */
function repeat(clock: Clock, work: () => void): () => void {
  let cancel = clock.after(usageWriteMs, tick);
  function tick(): void {
    work();
    cancel = clock.after(usageWriteMs, tick);
  }
  return () => cancel();
}

/** For a person's yes: such a call has reached no server, and has not failed. */
function isWaiting({ outcome }: EventOf<"mcp.request.logs">): boolean {
  return outcome === "APPROVAL_NEEDED";
}

/** Counts every call from now on. */
export function createUsage({ events, clock, store, installationOf }: UsageDeps): Usage {
  let current = createUsageRows(hourOf(clock.now()));
  /** Past hours that are not written yet. */
  let past: readonly UsageRow[] = [];
  const startedMs = clock.now();
  let sinceMs = startedMs;
  let reading = 0;
  const [memo, minutes] = [createUsageMemo(clock), createCallMinutes()];
  /** What the store was like when the memo began: a file that was damaged or deleted is followed by an empty one. */
  let readIn: StoreHealth | undefined;
  const unsubscribe = events.on(["mcp.request.logs"], (call) => {
    if (isWaiting(call)) return;
    const hourMs = hourOf(call.atMs);
    // A clock that was put back counts into the hour that it was in.
    if (hourMs > current.hourMs) current = nextHour(current, hourMs);
    current.add(call);
    minutes.add(call);
  });

  function nextHour(ended: UsageRows, hourMs: number): UsageRows {
    past = [...past, ...ended.rows().filter(({ calls }) => calls > 0)];
    if (store() === undefined && past.length > mostKeptRows) forgetOldest();
    return createUsageRows(hourMs, usageLimits);
  }

  function forgetOldest(): void {
    const dropped = past.at(past.length - mostKeptRows)?.hourMs ?? 0;
    past = past.filter(({ hourMs }) => hourMs > dropped);
    sinceMs = past[0]?.hourMs ?? current.hourMs;
  }

  /** What the store does not take stays here, for the next time. */
  function handOver(): void {
    const target = store();
    if (target === undefined || target.health().status === "opening" || target.health().status === "closed") return;
    const waiting = [...past, ...current.rows()].filter(({ calls }) => calls > 0);
    for (const row of waiting) {
      // It counts what it refuses as lost: nothing of this is, so that it is not asked for every row.
      if (!target.append("usage", { ...row, buckets: [...row.buckets] })) break;
      memo.clear();
      clearCounts(row);
      sinceMs = clock.now();
    }
    past = past.filter(({ calls }) => calls > 0).slice(-mostKeptRows);
  }

  function write(): void {
    // Counts written between two readings would be counted twice, or not at all.
    if (reading === 0) handOver();
  }

  const cancel = repeat(clock, write);

  const waiting = (query: UsageQuery): readonly UsageSum[] =>
    sumRows([...past, ...current.rows()], query, installationOf);

  const readWaiting = (query: UsageQuery): UsageAnswer => ({ sums: mergeSums([waiting(query)], query), sinceMs });

  async function readWritten(source: UsageStore, query: UsageQuery): Promise<readonly UsageSum[]> {
    const health = source.health();
    const isWhole = await flushRecent(source);
    const sums = await source.usage({ ...query, limit: mostGroups });
    // Nothing is handed over while somebody reads. What other gateways write here is not told.
    if (isWhole && !source.isShared && source.health() === health) memo.set(query, sums);
    return sums;
  }

  async function readBoth(source: UsageStore, query: UsageQuery): Promise<UsageAnswer> {
    reading += 1;
    try {
      if (source.health() !== readIn) memo.clear();
      readIn = source.health();
      const written = memo.get(query) ?? (await readWritten(source, query));
      return { sums: mergeSums([written, waiting(query)], query), sinceMs: null };
    } catch (error) {
      if (toGatewayError(error).code !== "STORE_UNAVAILABLE") throw error;
      return readWaiting(query);
    } finally {
      reading -= 1;
    }
  }

  return {
    async read(query) {
      const source = store();
      return source === undefined ? readWaiting(query) : await readBoth(source, query);
    },
    startedMs,
    minutes: (ask) => minutes.read(ask, clock.now()),
    write,
    [Symbol.dispose]() {
      unsubscribe();
      cancel();
      handOver();
    },
  };
}

/**
 * Sums of the written hours that were read lately, so that a page that stays open does not keep the store's thread
 * awake: it asks the same again and again, and between two hands-over of counts the answer is the same.
 */
export interface UsageMemo {
  get(query: UsageQuery): readonly UsageSum[] | undefined;
  set(query: UsageQuery, sums: readonly UsageSum[]): void;
  /** Something was handed over to the store, or it may have another file. */
  clear(): void;
}

/** Questions that are asked again: a page asks some ten, and several people look at theirs. */
const mostQuestions = 128;
/** Of one answer: 300 kB. Larger ones are read again. */
const mostSums = 1_000;
/** Of all answers together: 5 MB. */
const mostSumsInAll = 16_000;
const hourMs = 3_600_000;

/**
 * Entries are dropped when an hour begins, because the store deletes old hours, and where there is no room for more,
 * the least recently used one.
 */
export function createUsageMemo(clock: Pick<Clock, "now">): UsageMemo {
  /** The one that was asked last is the last. */
  const answers = new Map<string, readonly UsageSum[]>();
  let sums = 0;
  let sinceHourMs = 0;

  function clear(): void {
    answers.clear();
    sums = 0;
  }

  function forget(key: string): void {
    sums -= answers.get(key)?.length ?? 0;
    answers.delete(key);
  }

  function remember(key: string, answer: readonly UsageSum[]): void {
    forget(key);
    answers.set(key, answer);
    sums += answer.length;
  }

  function forgetLastHour(): void {
    const now = hourOf(clock.now());
    if (now !== sinceHourMs) clear();
    sinceHourMs = now;
  }

  return {
    get(query) {
      forgetLastHour();
      const key = keyOf(query);
      const answer = answers.get(key);
      if (answer !== undefined) remember(key, answer);
      return answer;
    },
    set(query, answer) {
      forgetLastHour();
      if (answer.length > mostSums) return;
      remember(keyOf(query), answer);
      for (const oldest of answers.keys()) {
        if (answers.size <= mostQuestions && sums <= mostSumsInAll) break;
        forget(oldest);
      }
    },
    clear,
  };
}

/** Whole hours are summed, so that a question whose end is now is the same for an hour. */
function keyOf({ fromMs, toMs, by, limit: _limit, ...filters }: UsageQuery): string {
  const hours = [Math.floor(fromMs / hourMs), Math.ceil(toMs / hourMs)];
  const named = Object.entries(filters).filter(([, value]) => value !== undefined);
  return JSON.stringify([hours, by, named.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
}
