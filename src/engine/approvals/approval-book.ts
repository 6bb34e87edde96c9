import { isAsGood } from "../../kernel/call/tool-effects.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Approval, ApprovalStore, ApprovedCall, Grant, GrantKind, KeptApprovals } from "../../store/store.ts";
import { shorten } from "../../kernel/text/plain-text.ts";
import { randomId } from "../../kernel/text/random-id.ts";

/** A change that those who look after the gateway are told of. */
export interface ApprovalChange {
  readonly what: "requested" | "decided" | "expired" | "revoked";
  readonly about: Approval | Grant;
  /** Who did it, and the way it came: `client`, `dashboard`, `owner`. */
  readonly by: string;
  readonly via: string;
  readonly verdict?: GrantKind | "no" | undefined;
}

export interface ApprovalSettings {
  readonly validMs: number;
  readonly sessionMs: number;
  readonly waiting: number;
}

export interface ApprovalBookDeps {
  readonly store: ApprovalStore;
  readonly clock: Pick<Clock, "now">;
  readonly settings: () => ApprovalSettings;
  readonly onChange: (change: ApprovalChange) => void;
}

/** Who decides, and how. */
export interface Decider {
  readonly by: string;
  readonly via: string;
}

/** What waits for a yes, and what was said yes to. A change is on the disk before anything is done because of it. */
export interface ApprovalBook {
  /** Whether a remembered yes covers the call. */
  covers(call: ApprovedCall): boolean;
  /** Uses up a yes to this one call; at most one of any number of equal calls gets it. */
  take(call: ApprovedCall): Promise<boolean>;
  /** Whether the call has begun with a yes to it, and goes on: its server asked something in the middle. */
  isUnderWay(binding: string): boolean;
  /** The same call that waits already, or was denied within the last minute. */
  find(binding: string): Approval | undefined;
  /** Notes that somebody is asked. The oldest of the person's expires where too many wait. */
  ask(call: ApprovedCall): Promise<{ readonly approval: Approval; readonly isNew: boolean }>;
  /** Throws APPROVAL_UNKNOWN where it does not wait any more, or is of somebody whom `isSeen` does not admit. */
  decide(
    id: string,
    verdict: GrantKind | "no",
    decider: Decider,
    isSeen?: (one: Approval) => boolean,
  ): Promise<Approval>;
  /** Takes a remembered yes back. Throws APPROVAL_UNKNOWN. */
  revoke(id: string, decider: Decider, isSeen: (one: Grant) => boolean): Promise<void>;
  /** Ends what waits, or waits to be used, of people who may not make such a call any more. */
  endWhere(isOver: (one: Approval) => boolean): Promise<void>;
  /** Resolves when it waits no longer, at the latest after so many milliseconds. */
  settled(id: string, limitMs: number, signal: AbortSignal): Promise<Approval | undefined>;
  /** The newest first. */
  readonly approvals: readonly Approval[];
  readonly grants: readonly Grant[];
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
/** For so long the same call is not asked about again. */
const deniedMs = 60_000;
/** As long as a server's question to a client can be answered. */
const underWayMs = 600_000;

export function createApprovalBook({ store, clock, settings, onChange }: ApprovalBookDeps): ApprovalBook {
  const onExpired = (about: Approval): void => onChange({ what: "expired", about, by: "gateway", via: "gateway" });
  const book = createKeptBook(store, clock, onExpired);

  return {
    covers(call) {
      const nowMs = clock.now();
      return book.kept.grants.some((grant) => isCovered(grant, call) && (grant.untilMs ?? nowMs + 1) > nowMs);
    },
    take: async ({ binding }) =>
      await book.change((now) => {
        const found = now.approvals.find((one) => one.binding === binding && one.state === "granted");
        if (found === undefined) return { next: now, value: false };
        return { next: withReplaced(now, closed(found, "used")), value: true };
      }),
    isUnderWay(binding) {
      const sinceMs = clock.now() - underWayMs;
      return book.kept.approvals.some(
        (one) => one.binding === binding && one.state === "used" && (one.decidedAtMs ?? 0) > sinceMs,
      );
    },
    find(binding) {
      const nowMs = clock.now();
      const counts = ({ state, expiresAtMs, decidedAtMs }: Approval): boolean =>
        state === "waiting" ? expiresAtMs > nowMs : state === "denied" && (decidedAtMs ?? 0) > nowMs - deniedMs;
      return book.kept.approvals.find((one) => one.binding === binding && counts(one));
    },
    async ask(call) {
      const asked = await book.change((now) => planAsking(now, call, clock.now(), settings()));
      if (asked.isNew) onChange({ what: "requested", about: asked.approval, by: call.principal, via: "client" });
      return asked;
    },
    async decide(id, verdict, { by, via }, isSeen = () => true) {
      const decided = await book.change((now) => {
        const found = now.approvals.find((one) => one.id === id && isSeen(one));
        if (found?.state !== "waiting") throw unknownApproval(found);
        if (verdict !== "no" && !mayLast(found, verdict))
          throw new GatewayError("PARAMS_INVALID", `a yes to this call cannot count for ${verdict}`);
        const decidedAtMs = clock.now();
        const decided: Approval = { ...found, state: "granted", decidedBy: by, decidedVia: via, decidedAtMs };
        // A yes that is remembered covers this call as well; there is none besides for one call.
        const one = verdict === "once" ? decided : closed(decided, verdict === "no" ? "denied" : "used");
        const next = withReplaced(now, one);
        if (verdict === "no" || verdict === "once") return { next, value: one };
        const untilMs = verdict === "session" ? decidedAtMs + settings().sessionMs : null;
        return { next: { ...next, grants: [toGrant(one, verdict, untilMs), ...next.grants] }, value: one };
      });
      onChange({ what: "decided", about: decided, by, via, verdict });
      return decided;
    },
    async revoke(id, { by, via }, isSeen) {
      const revoked = await book.change((now) => {
        const found = now.grants.find((one) => one.id === id && isSeen(one));
        if (found === undefined)
          throw new GatewayError("APPROVAL_UNKNOWN", "no yes of yours is remembered under this id");
        return { next: { ...now, grants: now.grants.filter((one) => one !== found) }, value: found };
      });
      onChange({ what: "revoked", about: revoked, by, via });
    },
    async endWhere(isOver) {
      const isEnded = (one: Approval): boolean => isOpen(one) && isOver(one);
      if (!book.kept.approvals.some(isEnded)) return;
      await book.change((now) => {
        const approvals = now.approvals.map((one) => (isEnded(one) ? closed(one, "expired") : one));
        return { next: { ...now, approvals }, value: undefined };
      });
    },
    settled: async (id, limitMs, signal) => await book.settled(id, limitMs, signal),
    get approvals() {
      return withoutOver(book.kept, clock.now()).approvals;
    },
    get grants() {
      return withoutOver(book.kept, clock.now()).grants;
    },
  };
}

/**
 * Whether a yes to a call may count for so long. What runs code does something else each time; and of what a person has
 * not seen the whole of, the rest may be anything.
 */
export function mayLast({ effect, isCut }: Pick<ApprovedCall, "effect" | "isCut">, kind: GrantKind): boolean {
  return kind === "once" || (!isCut && (kind === "session" || effect !== "run"));
}

interface Planned<T> {
  readonly next: KeptApprovals;
  readonly value: T;
}

/** The contents of a book: in memory as they are on the disk, and who waits for a change of them. */
function createKeptBook(
  store: ApprovalStore,
  clock: ApprovalBookDeps["clock"],
  onExpired: (approval: Approval) => void,
) {
  let kept = store.read();
  const waiters = createWaiters();

  function tell(before: KeptApprovals, after: KeptApprovals): void {
    const states = new Map(before.approvals.map((one) => [one.id, one.state]));
    for (const one of after.approvals) {
      if (states.get(one.id) === one.state || one.state === "waiting") continue;
      if (one.state === "expired") onExpired(one);
      waiters.wake(one.id);
    }
  }

  interface Change {
    readonly plan: (now: KeptApprovals) => KeptApprovals;
    readonly done: () => void;
    readonly fail: (error: unknown) => void;
  }
  const waiting: Change[] = [];
  let isWriting = false;

  /** All that waits is written as one: the file is replaced as a whole. */
  async function writeAll(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    for (let batch = waiting.splice(0); batch.length > 0; batch = waiting.splice(0)) {
      let next = withoutOver(kept, clock.now());
      const planned = batch.filter(({ plan, fail }) => {
        try {
          next = plan(next);
          return true;
        } catch (error) {
          fail(error);
          return false;
        }
      });
      try {
        if (next !== kept) await store.write(next);
        const before = kept;
        kept = next;
        tell(before, next);
        for (const { done } of planned) done();
      } catch (error) {
        for (const { fail } of planned) fail(error);
      }
    }
    isWriting = false;
  }

  return {
    get kept() {
      return kept;
    },
    /** One change after the other, each from what the one before has made: an unwritten one is not done. */
    async change<T>(plan: (now: KeptApprovals) => Planned<T>): Promise<T> {
      return await new Promise<T>((resolve, reject) => {
        let value: T;
        const take = (now: KeptApprovals): KeptApprovals => {
          const planned = plan(now);
          ({ value } = planned);
          return planned.next;
        };
        waiting.push({ plan: take, done: () => resolve(value), fail: reject });
        void writeAll();
      });
    },
    async settled(id: string, limitMs: number, signal: AbortSignal): Promise<Approval | undefined> {
      const find = (): Approval | undefined => kept.approvals.find((one) => one.id === id);
      if (find()?.state === "waiting" && limitMs > 0 && !signal.aborted) await waiters.wait(id, limitMs, signal);
      return find();
    },
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
function withoutOver(kept: KeptApprovals, nowMs: number): KeptApprovals {
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

function isOpen({ state }: Approval): boolean {
  return state === "waiting" || state === "granted";
}

/** One that waits for nothing any more. */
function closed(one: Approval, state: "used" | "denied" | "expired"): Approval {
  return { ...one, state, args: shorten(one.args, longestKeptArguments) };
}

function withReplaced(now: KeptApprovals, one: Approval): KeptApprovals {
  return { ...now, approvals: now.approvals.map((other) => (other.id === one.id ? one : other)) };
}

function isCovered(grant: Grant, call: ApprovedCall): boolean {
  const same = ["principal", "instance", "tool", "definition"] as const;
  const ofSession = ["client", "session"] as const;
  if (!isAsGood(grant.approver, call.approver)) return false;
  return [...same, ...(grant.kind === "always" ? [] : ofSession)].every((name) => grant[name] === call[name]);
}

/** The oldest that waits for the same person makes room for one more. */
function planAsking(
  now: KeptApprovals,
  call: ApprovedCall,
  nowMs: number,
  { validMs, waiting: most }: ApprovalSettings,
): Planned<{ readonly approval: Approval; readonly isNew: boolean }> {
  const same = now.approvals.find(({ binding, state }) => binding === call.binding && state === "waiting");
  if (same !== undefined) return { next: now, value: { approval: same, isNew: false } };
  const approval: Approval = {
    ...call,
    ...{ id: randomId("a"), state: "waiting", askedAtMs: nowMs, expiresAtMs: nowMs + validMs },
    ...{ decidedBy: null, decidedVia: null, decidedAtMs: null },
  };
  const waiting = now.approvals.filter((one) => one.principal === call.principal && one.state === "waiting");
  const over = new Set(waiting.slice(most - 1).map(({ id }) => id));
  const others = now.approvals.map((one) => (over.has(one.id) ? closed(one, "expired") : one));
  return { next: { ...now, approvals: [approval, ...others] }, value: { approval, isNew: true } };
}

function toGrant(one: Approval, kind: Grant["kind"], untilMs: number | null): Grant {
  const { principal, user, team, client, session, server, instance, tool, definition, approver, decidedAtMs } = one;
  const about = { principal, user, team, client, session, server, instance, tool, definition, approver };
  return { ...about, id: randomId("g"), kind, madeAtMs: decidedAtMs ?? 0, untilMs };
}

/** The same for another person's as for none. */
function unknownApproval(found: Approval | undefined): GatewayError {
  const state = found === undefined ? "" : `: it is ${found.state}`;
  return new GatewayError("APPROVAL_UNKNOWN", `no call waits for your yes under this id${state}`);
}
