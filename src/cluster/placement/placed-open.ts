import { countSubscriptions } from "./counted-subscriptions.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import type { ServerConfig } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { createSignal } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { OpenConnection, OpenOptions, Opened } from "../../servers/instance/instance-deps.ts";
import type { Closed, ConnectionEvents } from "../../servers/upstream/connection.ts";
import type { ClusterStore, OwnClaim, Taken } from "../../store/shared.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import { moved } from "../peers/messages.ts";
import type { PeerHost } from "../peers/peer-host.ts";
import { heirOf, isChoosy, keepsFiles, mayLeave, mayRun } from "./place-rules.ts";
import type { Placement } from "./placement.ts";

/** What this node runs, and the way in which instances are opened in a cluster. */
export interface PlacedInstances {
  /** Opens a connection to the server here, or to the node that runs it. */
  readonly open: OpenConnection;
  /** Whether this node runs it, and may write to it now. */
  holds(instance: string): boolean;
  /** What it could not give back, because the database could not be asked. */
  kept(instance: string): OwnClaim | undefined;
  readonly size: number;
  /** Gives back what could not be given back while the database was away. */
  tidy(): void;
  /** Everything ends at once: the lease is lost. */
  loseAll(): void;
  /** Those that are exclusive do: the lease could not be renewed. */
  loseExclusive(): void;
  /** Ends those that the database says are not this node's. */
  loseOthers(owned: readonly string[]): void;
  /** Whether it is this node's, and may be that one's as well. */
  mayGoTo(instance: string, node: KnownNode): boolean;
  /** Hands one over to that node: waits for its running calls until the signal aborts. */
  giveTo(instance: string, node: string, signal: AbortSignal): Promise<void>;
  /** Hands everything over to others: waits for running calls until the signal aborts. */
  handOver(signal: AbortSignal): Promise<void>;
}

export interface PlacedDeps {
  readonly openHere: OpenConnection;
  readonly store: Pick<ClusterStore, "release">;
  readonly membership: Membership;
  readonly placement: Placement;
  readonly host: Pick<PeerHost, "tellEvent" | "goAway">;
  readonly clock: Clock;
  /** Whose an instance is, by its id; null where everybody's. */
  readonly ownerOf: (instance: InstanceId) => string | null;
  /**
   * This node runs an instance from now on that another one ran. `gapMs` is the time for which the call waited that
   * needed it; undefined where it could not be opened.
   */
  readonly onTaken: (instance: InstanceId, taken: Taken, gapMs: number | undefined) => void;
}

/** One instance that this node has claimed. */
interface Holding {
  readonly server: ServerConfig;
  /** Set while it is handed over: it takes nothing new. */
  isParting: boolean;
  /** The node that alone may have it next, where that is decided already. */
  heir: string | undefined;
  opened: Opened | undefined;
  /** Makes its connection end as one that moved, and its process as any other. */
  lose: () => void;
  /** Does that at once: another node may start it now, and what the process works on must not go on. */
  kill: () => void;
  /** Settles when nothing of it runs here any more. */
  gone: Promise<void>;
}

/** Instances that are handed over at once: each start elsewhere takes a processor. */
const mostPartings = 16;
const lookMs = 20;
/** How long an instance is looked for, from its first try on. */
const patienceMs = 10_000;

export function createPlacedInstances(deps: PlacedDeps): PlacedInstances {
  const { openHere, placement, clock, membership, host } = deps;
  const holdings = new Map<string, Holding>();
  const claims = createClaims(deps, holdings);

  const open: OpenConnection = async (server, instance, options, signal) => {
    if (!isOwned(server)) return await openHere(server, instance, options, signal);
    const sinceMs = clock.monotonic();
    const wanted = { instance, owner: deps.ownerOf(instance), server: server.slug };
    for (;;) {
      await (holdings.get(instance)?.gone ?? claims.returning(instance));
      const place = await placement.place({ instance, server, sinceMs }, signal);
      if (place.kind === "here") {
        const opening = claims.open(place.claim, server, options, signal);
        if (place.taken !== undefined) tellTaken(instance, place.taken, opening, sinceMs);
        return await opening;
      }
      const back = host.goAway(instance);
      try {
        return await place.client.open(wanted, options.events, signal);
      } catch (error) {
        const isMoved = error instanceof GatewayError && error.code === "INSTANCE_MOVED";
        if (!isMoved || clock.monotonic() - sinceMs > patienceMs) throw error;
        await pause(clock);
      } finally {
        back();
      }
    }
  };

  function tellTaken(instance: InstanceId, taken: Taken, opening: Promise<Opened>, sinceMs: number): void {
    opening.then(
      () => deps.onTaken(instance, taken, clock.monotonic() - sinceMs),
      () => deps.onTaken(instance, taken, undefined),
    );
  }

  async function part(holding: Holding, signal: AbortSignal): Promise<void> {
    holding.isParting = true;
    while ((holding.opened?.pending().length ?? 0) > 0 && !signal.aborted) await pause(clock);
    holding.lose();
    await holding.gone;
  }

  return {
    open,
    holds: claims.holds,
    kept: claims.kept,
    get size() {
      return holdings.size;
    },
    tidy: claims.tidy,
    loseAll() {
      for (const { kill } of holdings.values()) kill();
    },
    loseExclusive() {
      for (const { server, kill } of holdings.values()) if (server.exclusive) kill();
    },
    loseOthers(owned) {
      const own = new Set(owned);
      for (const [instance, { kill }] of holdings) if (!own.has(instance)) kill();
    },
    mayGoTo(instance, node) {
      const held = holdings.get(instance);
      return held?.isParting === false && !keepsFiles(held.server) && mayRun(held.server, node.info.labels);
    },
    async giveTo(instance, node, signal) {
      const held = holdings.get(instance);
      if (held === undefined || held.isParting) return;
      held.heir = node;
      await part(held, signal);
    },
    async handOver(signal) {
      const next = (): Holding | undefined => {
        // Those that end are at the front, no more than are handed over at once.
        // What no other node may run goes on here until the end.
        for (const one of holdings.values()) if (!one.isParting && mayLeave(one.server, membership)) return one;
        return undefined;
      };
      const work = async (): Promise<void> => {
        // A node that was made ready again keeps the rest.
        for (let one = next(); one !== undefined && membership.isDraining; one = next()) await part(one, signal);
      };
      await Promise.all(Array.from({ length: mostPartings }, work));
    },
  };
}

async function pause(clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => clock.after(lookMs, resolve));
}

/** Instances that this node has claimed: opens them, and gives them back when they have ended. */
function createClaims(deps: PlacedDeps, holdings: Map<string, Holding>) {
  const { openHere, membership, host } = deps;
  const returns = createReturns(deps);

  const holds = (instance: string): boolean => {
    const held = holdings.get(instance);
    if (held === undefined || held.isParting) return false;
    return held.server.exclusive ? membership.isRenewed : membership.isLeased;
  };

  async function open(
    claim: OwnClaim,
    server: ServerConfig,
    options: OpenOptions,
    signal: AbortSignal,
  ): Promise<Opened> {
    const instance = claim.instance as InstanceId;
    const node = membership.me.id;
    const lost = new AbortController();
    const { promise: gone, done: settleGone } = createSignal();
    const { promise: leaving, done: leave } = createSignal<Closed>();
    const holding: Holding = {
      ...{ server, isParting: false, heir: undefined, opened: undefined, gone },
      lose() {
        lost.abort(moved(server.slug, node));
        leave({ kind: "moved", node });
      },
      kill() {
        holding.lose();
        holding.opened?.kill?.();
      },
    };
    holdings.set(instance, holding);

    async function release(): Promise<void> {
      if (holdings.get(instance) !== holding) return;
      await returns.giveBack({ claim, server, heir: holding.heir });
      holdings.delete(instance);
      settleGone();
    }

    try {
      const events = withPeers(options.events, instance, host);
      const opened = await openHere(server, instance, { ...options, events }, AbortSignal.any([signal, lost.signal]));
      holding.opened = opened;
      const closed = Promise.race([opened.closed, leaving]);
      return placed({ opened, closed, release, holds: () => holds(instance), server, node });
    } catch (error) {
      await release();
      throw error;
    }
  }

  return {
    ...{ open, holds, kept: returns.kept, returning: returns.returning },
    tidy: () => returns.tidy((instance) => holdings.has(instance)),
  };
}

interface Claim {
  readonly claim: OwnClaim;
  readonly server: ServerConfig;
  readonly heir: string | undefined;
}

/** Gives claims back; those that the database could not be asked to take back are kept for another time. */
function createReturns({ store, membership, clock }: PlacedDeps) {
  const unreleased = new Map<string, Claim>();
  const running = new Map<string, Promise<void>>();

  /** A claim is this node's while the node has the same life. */
  function kept(instance: string): OwnClaim | undefined {
    const claim = unreleased.get(instance)?.claim;
    return claim?.node.epoch === membership.me.epoch ? claim : undefined;
  }

  async function giveBack({ heir: chosen, ...one }: Claim): Promise<void> {
    const { claim, server } = one;
    unreleased.delete(claim.instance);
    const heir = chosen ?? (membership.isDraining ? heirOf(membership, clock, server)?.id : undefined);
    // Where the answer was lost, it may be another node's by now.
    if ((await store.release(claim, heir)) === "unasked") unreleased.set(claim.instance, { ...one, heir: undefined });
  }

  return {
    ...{ kept, giveBack },
    /** Settles when it has been given back, where that is under way. */
    returning: (instance: string) => running.get(instance),
    tidy(isHeld: (instance: string) => boolean): void {
      for (const [instance, one] of unreleased) {
        if (isHeld(instance)) continue;
        if (kept(instance) === undefined) unreleased.delete(instance);
        else
          running.set(
            instance,
            giveBack(one).finally(() => running.delete(instance)),
          );
      }
    },
  };
}

/** What may not be there twice, or not everywhere: processes, what keeps state for one client, and what says so. */
function isOwned(server: ServerConfig): boolean {
  return (
    (hasProcess(server.transport) && !server.place.everyNode) || server.stateful || server.exclusive || isChoosy(server)
  );
}

/** Other nodes hear what the server says on its own, too. */
function withPeers(events: ConnectionEvents, instance: string, host: Pick<PeerHost, "tellEvent">): ConnectionEvents {
  return {
    ...events,
    onNotification(method, params, audience) {
      events.onNotification(method, params, audience);
      host.tellEvent(instance, method, params, audience);
    },
    onSessionReplaced() {
      events.onSessionReplaced?.();
      host.tellEvent(instance);
    },
  };
}

interface PlacedParts {
  readonly opened: Opened;
  readonly closed: Promise<Closed>;
  readonly release: () => Promise<void>;
  readonly holds: () => boolean;
  readonly server: ServerConfig;
  readonly node: string;
}

/** A connection that looks at the lease once more before each write. */
function placed({ opened, closed, release, holds, server, node }: PlacedParts): Opened {
  const request = countSubscriptions(async (one) => await opened.request(one));
  return {
    ...(opened.pid === undefined ? {} : { pid: opened.pid }),
    peer: opened.peer,
    request: async (one) => {
      if (!holds()) throw moved(server.slug, node);
      return await request(one);
    },
    async notify(method, params) {
      if (holds()) await opened.notify(method, params);
    },
    closed,
    get inFlight() {
      return opened.inFlight;
    },
    pending: () => opened.pending(),
    get lastActivityMs() {
      return opened.lastActivityMs;
    },
    readCard: opened.readCard,
    startSpan: opened.startSpan,
    replicas: opened.replicas,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await release();
    },
  };
}
