import type { ClusterStore, NodeInfo, NodeKey, NodeRow, NodeState, Renewed } from "../../store/shared.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";

/** A node, as this one knows it. */
export interface KnownNode extends Omit<NodeRow, "leftMs"> {
  /** When its lease ends, by this node's monotonic clock. */
  readonly leasedUntilMs: number;
}

/** This node among others: its lease, and theirs as far as they are known. */
export interface Membership {
  readonly me: NodeKey;
  /** Whether this node may serve what it owns: one comparison, to be made before each write to a server. */
  readonly isLeased: boolean;
  /** The same, without agreements of those who lost the database: exclusive servers are served only then. */
  readonly isRenewed: boolean;
  /** Whether it takes nothing new. */
  readonly isDraining: boolean;
  nodes(): readonly KnownNode[];
  /** Monotonic ms of the last time that the database answered. */
  readonly reachedAtMs: number;
  /** Joins, and renews from then on. Resolves after the first try: while the database is away it has no lease. */
  start(): Promise<void>;
  /** Its lease is lost: what it owns ends now. Called before anybody else may take over. */
  onFenced(listener: () => void): void;
  /** The lease could not be renewed: exclusive servers end now, whether or not the node goes on by an agreement. */
  onUnrenewed(listener: () => void): void;
  /** Ends this life of the node and begins another: nothing that it owned is its own any more. */
  begin(why: string): void;
  /** Renews now: there is a node that is not in the list. */
  look(): Promise<void>;
  drain(): Promise<void>;
  /** Takes new instances again, after it was drained. */
  resume(): Promise<void>;
  /** Ends its life, and stops renewing. */
  leave(): Promise<void>;
}

export interface MembershipDeps {
  readonly store: ClusterStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly id: string;
  readonly address: () => string;
  readonly leaseMs: number;
  readonly info: () => NodeInfo;
  /** Whether every other node that has a lease answers, and none of them reaches the database. */
  readonly areAllCutOff: (others: readonly KnownNode[]) => Promise<boolean>;
  /** The lease was renewed: how many instances the database says are this node's, and which of them others want. */
  readonly onRenewed: (renewed: Pick<Renewed, "owned" | "wanted">) => void;
}

/** A node stops serving this long before its lease ends by the database's clock. */
const marginMs = 500;
/** While the database is away for all nodes, none can take over. An agreement on that holds for so long. */
const agreedMs = 1_000;

/** One life of the node after another, and its lease. */
interface Lives {
  readonly me: NodeKey;
  readonly hasLife: boolean;
  /** Monotonic ms until which it may serve; in the past where it may not. */
  deadlineMs: number;
  /** Until when the database has confirmed that; never later. */
  readonly renewedUntilMs: number;
  readonly reachedAtMs: number;
  readonly nodes: readonly KnownNode[];
  /** Joins where it has no life, and renews. Rejects while the database is away. */
  renew(): Promise<void>;
  lose(why: string): void;
}

function createLives(deps: MembershipDeps, stateOf: () => NodeState, onLost: () => void): Lives {
  const { store, clock, log, id, leaseMs } = deps;
  let epoch = 0;
  let hasLife = false;
  let deadlineMs = Number.NEGATIVE_INFINITY;
  let renewedUntilMs = Number.NEGATIVE_INFINITY;
  let reachedAtMs = Number.NEGATIVE_INFINITY;
  let nodes: readonly KnownNode[] = [];
  const about = () => ({ leaseMs, state: stateOf(), info: deps.info() });

  /** The lease counts from before the question was sent. */
  function extend(sentMs: number): void {
    reachedAtMs = clock.monotonic();
    renewedUntilMs = sentMs + leaseMs - marginMs;
    deadlineMs = Math.max(deadlineMs, renewedUntilMs);
  }

  function lose(why: string): void {
    hasLife = false;
    deadlineMs = Number.NEGATIVE_INFINITY;
    renewedUntilMs = Number.NEGATIVE_INFINITY;
    log.warn({ component: "cluster", node: id, epoch }, `this node serves none of its servers: ${why}`);
    onLost();
  }

  async function join(): Promise<void> {
    const sentMs = clock.monotonic();
    epoch = await store.join({ id, address: deps.address(), leastEpoch: epoch + 1, ...about() });
    hasLife = true;
    extend(sentMs);
    log.info({ component: "cluster", node: id, epoch }, `joined as ${id}`);
  }

  return {
    get me() {
      return { id, epoch };
    },
    get hasLife() {
      return hasLife;
    },
    get deadlineMs() {
      return deadlineMs;
    },
    set deadlineMs(next) {
      deadlineMs = next;
    },
    get renewedUntilMs() {
      return renewedUntilMs;
    },
    get reachedAtMs() {
      return reachedAtMs;
    },
    get nodes() {
      return nodes;
    },
    async renew() {
      if (!hasLife) await join();
      const sentMs = clock.monotonic();
      const { isMine, nodes: rows, ...renewed } = await store.renew({ id, epoch }, about());
      // The lease ran out before the answer came: what was owned has ended, and another life begins.
      if (!hasLife) return;
      if (!isMine) return lose("another life of it has begun, or it was found dead");
      extend(sentMs);
      nodes = rows.map(({ leftMs, ...node }) => ({ ...node, leasedUntilMs: reachedAtMs + leftMs }));
      deps.onRenewed(renewed);
    },
    lose,
  };
}

/** Has no lease before `start`. */
export function createMembership(deps: MembershipDeps): Membership {
  const { store, clock, id, leaseMs } = deps;
  const told = { fenced: [] as (() => void)[], unrenewed: [] as (() => void)[] };
  let state: NodeState = "ready";
  let isOver = false;
  let cancel: () => void = () => undefined;
  let running: Promise<void> = Promise.resolve();
  const tell = (whom: keyof typeof told) => (): void => told[whom].forEach((listener) => listener());
  const lives = createLives(deps, () => state, tell("fenced"));
  const isUneasy = (): boolean => clock.monotonic() > lives.deadlineMs - leaseMs / 2;

  async function beat(): Promise<void> {
    try {
      await lives.renew();
    } catch (error) {
      if (!lives.hasLife) return;
      const nowMs = clock.monotonic();
      // Asked early enough that the answer comes before the deadline.
      if (isUneasy() && (await deps.areAllCutOff(membersBeside(id, lives))))
        lives.deadlineMs = Math.max(lives.deadlineMs, nowMs + agreedMs);
      if (clock.monotonic() >= lives.deadlineMs && lives.hasLife)
        lives.lose(`the database is away (${error instanceof Error ? error.message : ""})`);
    }
  }

  function next(): void {
    if (isOver) return;
    const delayMs = lives.hasLife && isUneasy() ? Math.min(leaseMs / 5, agreedMs / 4) : leaseMs / 5;
    cancel = clock.after(delayMs, () => {
      running = beat().finally(next);
    });
  }

  /** Others are told at once, not at the next renewal. */
  async function turn(to: NodeState): Promise<void> {
    state = to;
    cancel();
    await running;
    // One that was running has planned the next.
    cancel();
    if (isOver) return;
    running = beat().finally(next);
    await running;
  }

  return {
    get me() {
      return lives.me;
    },
    get isLeased() {
      return clock.monotonic() < lives.deadlineMs;
    },
    get isRenewed() {
      return clock.monotonic() < lives.renewedUntilMs;
    },
    get isDraining() {
      return state !== "ready";
    },
    nodes: () => lives.nodes,
    get reachedAtMs() {
      return lives.reachedAtMs;
    },
    async start() {
      running = beat();
      await running;
      next();
      watchLease(clock, lives, { isOver: () => isOver, onUnrenewed: tell("unrenewed") });
    },
    onFenced: (listener) => void told.fenced.push(listener),
    onUnrenewed: (listener) => void told.unrenewed.push(listener),
    begin(why) {
      if (lives.hasLife) lives.lose(why);
    },
    look: async () => await turn(state),
    drain: async () => await turn("draining"),
    resume: async () => await turn("ready"),
    async leave() {
      isOver = true;
      cancel();
      await running;
      if (lives.hasLife) await store.markDead(lives.me).catch(() => undefined);
      lives.deadlineMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** A node whose lease had run out before is no member: it would have to join, and asks those that it finds. */
function membersBeside(id: string, { nodes, reachedAtMs }: Lives): readonly KnownNode[] {
  return nodes.filter((node) => node.id !== id && node.state !== "dead" && node.leasedUntilMs > reachedAtMs);
}

interface LeaseWatch {
  readonly isOver: () => boolean;
  /** Called again and again until it is renewed. */
  readonly onUnrenewed: () => void;
}

/** A renewal that hangs must not keep the end of the lease from being noticed. */
function watchLease(clock: Clock, lives: Lives, { isOver, onUnrenewed }: LeaseWatch): void {
  const watch = (deadlineMs: () => number, onPassed: () => void): void => {
    const look = (): void => {
      if (isOver()) return;
      const leftMs = lives.hasLife ? deadlineMs() - clock.monotonic() : Number.POSITIVE_INFINITY;
      if (leftMs <= 0) onPassed();
      clock.after(Number.isFinite(leftMs) && leftMs > 0 ? Math.min(leftMs + 1, 250) : 250, look);
    };
    look();
  };
  watch(() => lives.renewedUntilMs, onUnrenewed);
  watch(
    () => lives.deadlineMs,
    () => lives.lose("its lease has run out"),
  );
}
