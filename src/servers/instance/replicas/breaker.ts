import type { InstanceSettings } from "../../../config/config.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";

/** Whether calls go through: `half-open` lets one at a time through, to see how it ends. */
export type BreakerState = "closed" | "open" | "half-open";

/** How a call ended for the breaker. `silent`: in a timeout, which one slow tool may have. */
export type CallEnd = "ok" | "broken" | "silent";

/**
 * Watches the calls to one process or address, and refuses them for a while when too many fail. Errors that a server
 * answered on purpose are no failures.
 */
export interface Breaker {
  readonly state: BreakerState;
  /** From 0 to 1: how many of the calls in the window have failed. */
  readonly failureRate: number;
  /** Ms until it is tried again; undefined unless it is open. */
  readonly nextTryMs: number | undefined;
  /** Whether a call may be sent now. */
  admits(): boolean;
  /** Call when a call is sent. Returns what `noteEnd` needs. */
  noteSent(): number;
  /** Call when it has ended; `end` is undefined where that says nothing about the server. `name`: of the tool. */
  noteEnd(sent: number, name: string, end: CallEnd | undefined): void;
  /** Ends its tries. */
  stop(): void;
  /** Forgets everything, because the process or connection is another one. */
  reset(): void;
}

export type BreakerPolicy = Pick<
  InstanceSettings,
  "breakerPercent" | "breakerCalls" | "breakerWindowMs" | "breakerWaitMs"
>;

export interface BreakerOptions {
  readonly clock: Clock;
  readonly policy: () => BreakerPolicy;
  /** False: it counts, and never opens. */
  readonly isOn: () => boolean;
  /** Asks the server for a sign of life. Never rejects. */
  readonly isAlive: () => Promise<boolean>;
  /** `why` ends a sentence that begins with the server. */
  readonly onChange: (state: BreakerState, why: string) => void;
}

const longestWaitMs = 300_000;
/** Successes in a row that close it again: one may have been luck. */
const neededSuccesses = 2;
/** Calls of a tool that say something about it. */
const enoughCalls = 5;
/** Calls of others that say something about the server: each that fails is counted, and the next one judges again. */
const enoughBeside = 2;

/** Closed at first. */
export function createBreaker(options: BreakerOptions): Breaker {
  const { clock, policy, isAlive } = options;
  let tally = createTally();
  let state: BreakerState = "closed";
  let trials = createTrials();
  const wait = createWait(clock);
  let isAsking = false;
  /** Counts changes of the state: a call says nothing about a later one. */
  let epoch = 0;

  function become(next: BreakerState, why: string): void {
    state = next;
    epoch += 1;
    trials = createTrials();
    options.onChange(next, why);
  }

  function open(why: string): void {
    wait.begin(policy().breakerWaitMs, () => void tryAgain());
    become("open", why);
  }

  function close(why: string): void {
    tally = createTally();
    become("closed", why);
  }

  /** Asks for a sign of life first, so that no call is spent on a server that is still away. */
  async function tryAgain(): Promise<void> {
    const sent = epoch;
    const alive = await isAlive();
    if (epoch !== sent) return;
    if (alive) become("half-open", "gives a sign of life again");
    else open("gives no sign of life");
  }

  function judgeTrial(end: CallEnd | undefined): void {
    const verdict = trials.judge(end);
    if (verdict === "close") close("answers again");
    else if (verdict === "open") open("failed again");
  }

  async function judge(): Promise<void> {
    const judged = tally;
    const verdict = options.isOn() && !isAsking ? judgeTally(judged, policy()) : "stay";
    const { failed, calls } = judged.sums();
    isAsking ||= verdict === "ask";
    const isSlow = verdict === "ask" && (await isAlive());
    if (verdict === "ask") isAsking = false;
    // It was started again meanwhile.
    if (verdict === "stay" || state !== "closed" || tally !== judged) return;
    if (isSlow) tally = createTally();
    else open(`failed in ${failed} of its last ${calls} calls`);
  }

  return {
    get state() {
      return state;
    },
    get failureRate() {
      return tally.rate(clock.monotonic(), policy().breakerWindowMs);
    },
    get nextTryMs() {
      return state === "open" ? wait.leftMs : undefined;
    },
    admits: () => state === "closed" || !options.isOn() || (state === "half-open" && trials.admits),
    noteSent() {
      trials.noteSent();
      return epoch;
    },
    noteEnd(sent, name, end) {
      if (sent !== epoch || state === "open") return;
      if (state === "half-open") return judgeTrial(end);
      if (end === undefined) return;
      const { breakerWindowMs } = policy();
      tally.turn(clock.monotonic(), breakerWindowMs);
      tally.add(name, end);
      if (end !== "ok") void judge();
      else wait.noteQuiet(breakerWindowMs);
    },
    stop: wait.cancel,
    reset() {
      wait.cancel();
      tally = createTally();
      if (state !== "closed") close("was started again");
    },
  };
}

/** The time until the next try, which doubles with each that fails. */
function createWait(clock: Clock) {
  let endsMs = 0;
  let begun = 0;
  let cancel: (() => void) | undefined;
  return {
    begin(firstMs: number, onEnd: () => void): void {
      const waitMs = Math.max(firstMs, Math.min(firstMs * 2 ** Math.min(begun, 20), longestWaitMs));
      begun += 1;
      endsMs = clock.monotonic() + waitMs;
      cancel?.();
      cancel = clock.after(waitMs, onEnd);
    },
    get leftMs(): number {
      return Math.max(0, endsMs - clock.monotonic());
    },
    /** A whole window without an opening: the next one waits as the first did. */
    noteQuiet(windowMs: number): void {
      if (clock.monotonic() - endsMs > windowMs) begun = 0;
    },
    cancel: (): void => cancel?.(),
  };
}

/** Whether a server fails too often; `ask`: only if it gives no sign of life, because it may be slow at one thing. */
function judgeTally(tally: Tally, { breakerPercent, breakerCalls }: BreakerPolicy): "stay" | "open" | "ask" {
  const { calls, failed, silent } = tally.sums();
  if (calls < breakerCalls || failed * 100 < calls * breakerPercent) return "stay";
  const failing = tally.failing(breakerPercent);
  const rest = calls - failing.calls;
  // The rest works: then it is the tools, not the server.
  if (rest >= enoughBeside && (failed - failing.failed) * 200 < rest * breakerPercent) return "stay";
  return silent < failed || tally.failingNames() > 1 ? "open" : "ask";
}

/** The calls that are let through one at a time to see how they end. */
function createTrials() {
  let running = 0;
  let successes = 0;
  return {
    get admits(): boolean {
      return running === 0;
    },
    noteSent(): void {
      running += 1;
    },
    judge(end: CallEnd | undefined): "close" | "open" | undefined {
      running -= 1;
      if (end === "ok") successes += 1;
      else if (end !== undefined) return "open";
      return successes >= neededSuccesses ? "close" : undefined;
    },
  };
}

interface Sums {
  readonly calls: number;
  readonly failed: number;
  readonly silent: number;
}

const nothing: Sums = Object.freeze({ calls: 0, failed: 0, silent: 0 });

/** Tools counted each for itself; later ones are counted together. */
const mostNames = 100;

type Tally = ReturnType<typeof createTally>;

/** The calls of the last one to two halves of a window, in all and by tool. */
function createTally() {
  let older = createHalf();
  let newer = createHalf();
  let turnedMs = Number.NEGATIVE_INFINITY;

  function byName(): Iterable<Sums> {
    const all = new Map(older.names);
    for (const [name, sums] of newer.names) all.set(name, added(all.get(name) ?? nothing, sums));
    return all.values();
  }

  /** Forgets calls from before the window. */
  function turn(nowMs: number, windowMs: number): void {
    const ageMs = nowMs - turnedMs;
    if (ageMs < windowMs / 2) return;
    older = ageMs < windowMs ? newer : createHalf();
    newer = createHalf();
    turnedMs = nowMs;
  }

  return {
    turn,
    /** From 0 to 1. */
    rate(nowMs: number, windowMs: number): number {
      turn(nowMs, windowMs);
      const { calls, failed } = added(older.all, newer.all);
      return calls === 0 ? 0 : failed / calls;
    },
    add(name: string, end: CallEnd): void {
      const { names } = newer;
      const key = names.has(name) || names.size < mostNames ? name : "";
      const one = { calls: 1, failed: end === "ok" ? 0 : 1, silent: end === "silent" ? 1 : 0 };
      names.set(key, added(names.get(key) ?? nothing, one));
      newer.all = added(newer.all, one);
    },
    sums: (): Sums => added(older.all, newer.all),
    /** The calls of the tools that fail as often as `percent`, of those that were called often enough. */
    failing(percent: number): Sums {
      let found = nothing;
      for (const sums of byName())
        if (sums.calls >= enoughCalls && sums.failed * 100 >= sums.calls * percent) found = added(found, sums);
      return found;
    },
    failingNames: (): number => [...byName()].filter(({ failed }) => failed > 0).length,
  };
}

function createHalf(): { readonly names: Map<string, Sums>; all: Sums } {
  return { names: new Map(), all: nothing };
}

function added(a: Sums, b: Sums): Sums {
  return { calls: a.calls + b.calls, failed: a.failed + b.failed, silent: a.silent + b.silent };
}
