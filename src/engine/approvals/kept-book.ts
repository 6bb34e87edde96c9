import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createReadingAgain } from "../../kernel/runtime/reading-again.ts";
import type { Approval, ApprovalStore, Grant, KeptApprovals } from "../../store/approval-rows.ts";
import { shorten } from "../../kernel/text/plain-text.ts";

export interface Planned<T> {
  readonly next: KeptApprovals;
  readonly value: T;
}

/** The contents of a book: in memory as they are in the store. */
export interface KeptBook {
  readonly kept: KeptApprovals;
  /**
   * One change after the other, each from what the one before has made: an unwritten one is not done. A plan is made
   * again where another gateway was first.
   */
  change<T>(plan: (now: KeptApprovals) => Planned<T>): Promise<T>;
  /** Resolves when the approval waits no longer, at the latest after so many milliseconds. */
  settled(id: string, limitMs: number, signal: AbortSignal): Promise<Approval | undefined>;
}

export interface KeptBookDeps {
  readonly store: ApprovalStore;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly onExpired: (approval: Approval) => void;
  /** Another gateway changed this. */
  readonly onElsewhere?: ((about: Approval | Grant) => void) | undefined;
  /** What another gateway changed cannot be read, and is tried again. */
  readonly onUnread?: ((error: unknown) => void) | undefined;
}

/** How long what was decided is kept. */
const keptMs = 7 * 86_400_000;
/** Of those that are decided or expired: of one person, and of all. */
const mostOfOne = 100;
const mostKept = 2_000;
/** Of what one person has said yes to for longer; the oldest goes first, and is asked about again. */
const mostGrantsOfOne = 500;
/** Their arguments are for a glance at what was decided. */
const longestKeptArguments = 1_000;
/** Gateways that change the same at the same moment get past each other within these. */
const mostAttempts = 20;

/** Opens them. Rejects where they cannot be read. */
export async function openKeptBook({ store, clock, ...on }: KeptBookDeps): Promise<KeptBook> {
  let kept: KeptApprovals = { approvals: [], grants: [] };
  let last: Promise<unknown> = Promise.resolve();
  const waiters = createWaiters();
  const waiting: Change[] = [];

  async function inTurn(work: () => Promise<void>): Promise<void> {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    await mine;
  }

  function adopt(next: KeptApprovals): readonly Approval[] {
    const states = new Map(kept.approvals.map((one) => [one.id, one.state]));
    kept = next;
    const settled = next.approvals.filter(({ id, state }) => states.get(id) !== state && state !== "waiting");
    for (const { id } of settled) waiters.wake(id);
    return settled;
  }

  /** All that waits is written as one: a file is replaced as a whole. */
  async function writeAll(): Promise<void> {
    let batch: readonly Change[] = waiting.splice(0);
    for (let count = 1; batch.length > 0; count += 1) {
      const { next, planned } = planAll(batch, kept, clock.now());
      batch = planned;
      try {
        if (next === kept || (await store.write(next, kept))) {
          for (const one of adopt(next)) if (one.state === "expired") on.onExpired(one);
          for (const { done } of batch) done();
          return;
        }
        if (count === mostAttempts)
          throw new GatewayError(
            "STORE_UNAVAILABLE",
            "other gateways change approvals at the same moment all the time",
          );
        adopt(await store.read());
      } catch (error) {
        for (const { fail } of batch) fail(error);
        return;
      }
    }
  }

  // Before they are read, so that changes made meanwhile are read again.
  followOthers({ store, clock, ...on, inTurn }, (read, ids) =>
    adopt(ids === undefined ? read : merged(kept, read, new Set(ids))),
  );
  await inTurn(async () => void adopt(await store.read()));

  return {
    get kept() {
      return kept;
    },
    async change<T>(plan: (now: KeptApprovals) => Planned<T>): Promise<T> {
      return await new Promise<T>((resolve, reject) => {
        let value: T;
        const take = (now: KeptApprovals): KeptApprovals => {
          const planned = plan(now);
          ({ value } = planned);
          return planned.next;
        };
        waiting.push({ plan: take, done: () => resolve(value), fail: reject });
        void inTurn(writeAll);
      });
    },
    async settled(id, limitMs, signal) {
      const find = (): Approval | undefined => kept.approvals.find((one) => one.id === id);
      if (find()?.state === "waiting" && limitMs > 0 && !signal.aborted) await waiters.wait(id, limitMs, signal);
      return find();
    },
  };
}

interface Following extends Pick<KeptBookDeps, "store" | "clock" | "onElsewhere" | "onUnread"> {
  /** Between two changes of this gateway. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

/** Takes over what other gateways change, where there are any. `ids` are those that were read; undefined for all. */
function followOthers(
  { store, clock, inTurn, onElsewhere, onUnread }: Following,
  take: (read: KeptApprovals, ids: readonly string[] | undefined) => void,
): void {
  const news = createNews();

  async function readNews(): Promise<void> {
    const ids = news.take();
    if (ids === "none") return;
    try {
      const read = await store.read(ids);
      take(read, ids);
      for (const one of ids === undefined ? [] : [...read.approvals, ...read.grants]) onElsewhere?.(one);
    } catch (error) {
      news.add(ids);
      throw error;
    }
  }

  const read = async (): Promise<void> => await inTurn(readNews);
  const reading = createReadingAgain({ clock, read, onFailed: (error) => onUnread?.(error) });
  store.onChange?.((ids) => {
    news.add(ids);
    reading.ask();
  });
}

interface Change {
  readonly plan: (now: KeptApprovals) => KeptApprovals;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/** After so many changes, those that are over are left out: each change looks at all of them. */
const plannedAtOnce = 100;

/** Those that cannot be done fail, and the others are planned one after the other. */
function planAll(batch: readonly Change[], now: KeptApprovals, nowMs: number) {
  let next = now;
  const planned = batch.filter(({ plan, fail }, at) => {
    try {
      if (at % plannedAtOnce === 0) next = withoutOver(next, nowMs);
      next = plan(next);
      return true;
    } catch (error) {
      fail(error);
      return false;
    }
  });
  return { next, planned };
}

/** Ids that other gateways changed and that were not read since; undefined for all. */
function createNews() {
  let ids: Set<string> | undefined = new Set();
  return {
    add(told: readonly string[] | undefined): void {
      if (told === undefined) ids = undefined;
      else for (const id of told) ids?.add(id);
    },
    take(): readonly string[] | undefined | "none" {
      const taken = ids;
      ids = new Set();
      return taken === undefined ? undefined : taken.size === 0 ? "none" : [...taken];
    },
  };
}

/** With these ids as they were read, the newest first: those that were not found are removed. */
function merged(kept: KeptApprovals, read: KeptApprovals, ids: ReadonlySet<string>): KeptApprovals {
  const others = <T extends { readonly id: string }>(rows: readonly T[]): readonly T[] =>
    rows.filter(({ id }) => !ids.has(id));
  return {
    approvals: [...read.approvals, ...others(kept.approvals)].sort((one, other) => other.askedAtMs - one.askedAtMs),
    grants: [...read.grants, ...others(kept.grants)].sort((one, other) => other.madeAtMs - one.madeAtMs),
  };
}

/** Those who wait for a change of one approval. */
function createWaiters() {
  const waiters = new Map<string, Set<() => void>>();
  return {
    wake(id: string): void {
      for (const wake of waiters.get(id) ?? []) wake();
      waiters.delete(id);
    },
    /** Resolves when it is woken, after so many milliseconds, or when the signal aborts. */
    wait: async (id: string, limitMs: number, signal: AbortSignal): Promise<void> =>
      await new Promise<void>((resolve) => {
        const own = waiters.get(id) ?? new Set();
        waiters.set(id, own);
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          own.delete(end);
          if (own.size === 0 && waiters.get(id) === own) waiters.delete(id);
          resolve();
        };
        const timer = setTimeout(end, limitMs);
        signal.addEventListener("abort", end, { once: true });
        own.add(end);
      }),
  };
}

/** Without the expired, and the oldest that are decided or remembered. The same object where there are none. */
export function withoutOver(kept: KeptApprovals, nowMs: number): KeptApprovals {
  const isOver = (one: Approval): boolean => isOpen(one) && one.expiresAtMs <= nowMs;
  const countGrants = createCounts();
  const isPast = ({ principal, untilMs }: Grant): boolean =>
    (untilMs !== null && untilMs <= nowMs) || countGrants(principal) > mostGrantsOfOne;
  const countDecided = createCounts();
  let all = 0;
  const isOld = (one: Approval): boolean => {
    if (isOpen(one)) return false;
    all += 1;
    return countDecided(one.principal) > mostOfOne || all > mostKept || one.askedAtMs < nowMs - keptMs;
  };
  const old = new Set(kept.approvals.filter(isOld));
  const grants = kept.grants.filter((one) => !isPast(one));
  if (old.size === 0 && grants.length === kept.grants.length && !kept.approvals.some(isOver)) return kept;
  return {
    approvals: kept.approvals.flatMap((one) => (old.has(one) ? [] : isOver(one) ? closed(one, "expired") : one)),
    grants,
  };
}

/** Counts by name: each call returns how many there are of it now. */
function createCounts(): (name: string) => number {
  const counts = new Map<string, number>();
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count;
  };
}

export function isOpen({ state }: Approval): boolean {
  return state === "waiting" || state === "granted";
}

/** One that waits for nothing any more. */
export function closed(one: Approval, state: "used" | "denied" | "expired"): Approval {
  return { ...one, state, args: shorten(one.args, longestKeptArguments) };
}
