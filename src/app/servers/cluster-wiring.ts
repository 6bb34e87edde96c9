import { createHmac, hkdfSync } from "node:crypto";
import { networkInterfaces } from "node:os";
import type { Config } from "../../config/config.ts";
import { createNodeChanges } from "../../cluster/leases/node-changes.ts";
import { createMembership, type KnownNode, type Membership } from "../../cluster/leases/node-membership.ts";
import type { FarOptions } from "../../cluster/peers/far-connection.ts";
import { areCutOff, createGreeting, createReach, refuseMisfit } from "../../cluster/peers/node-reach.ts";
import { createPeerNetwork, splitAddress } from "../../cluster/peers/peer-links.ts";
import { createAskElsewhere, type AnswerHeld } from "../../cluster/peers/held-things.ts";
import { createNodeDesk, type NodeDesk } from "../../cluster/peers/node-desk.ts";
import { createNodeWatch, type FollowHere, type NodeWatch } from "../../cluster/peers/node-watch.ts";
import { createPeerHost } from "../../cluster/peers/peer-host.ts";
import { createPlacedInstances, type PlacedInstances } from "../../cluster/placement/placed-open.ts";
import { heirOf } from "../../cluster/placement/place-rules.ts";
import { createWants } from "../../cluster/placement/wants.ts";
import { createPlacement } from "../../cluster/placement/placement.ts";
import type {
  ClientNote,
  HeldKind,
  InstanceOrder,
  NodeOrder,
  PeerQuestion,
  UseNote,
} from "../../cluster/peers/messages.ts";
import type { Admission } from "../../front/http/guards/admission.ts";
import { createSharedLimits } from "../../front/http/guards/shared-limits.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { abortAfter, untilAborted } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { OpenConnection } from "../../servers/instance/instance-deps.ts";
import { createConfigHash, createNodeLoad, type NodeLoadDeps } from "./node-info.ts";
import type { ClusterStore, NodeInfo, Taken } from "../../store/shared.ts";
import type { GatewayStore } from "../../store/store.ts";

export interface ClusterDeps {
  /** The name of this node. */
  readonly id: string;
  readonly config: () => Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly events: Pick<EventBus, "emit" | "on">;
  readonly version: string;
  readonly store: Pick<GatewayStore, "cluster">;
  readonly openHere: OpenConnection;
  readonly waiting: FarOptions["waiting"];
  /** The instance, made for its owner where it was not used here before. */
  readonly find: (instance: InstanceId, owner: string | null) => Instance | undefined;
  readonly ownerOf: (instance: InstanceId) => string | null;
  /** What the load of this node is measured by. */
  readonly load: Pick<NodeLoadDeps, "processes" | "waitingStarts">;
  /** What happens here, for those who read it at other nodes. */
  readonly follow: FollowHere;
  /** A client of a session sent something to another node, which may be meant for a call here. */
  readonly onClient: (note: ClientNote, body: Buffer) => void;
  /** Who calls here, whose limits hold for all nodes together. */
  readonly admission: () => Pick<Admission, "accounts" | "account">;
  /** How this node answers for what it keeps. */
  readonly answerOf: (kind: HeldKind) => AnswerHeld | undefined;
  /** It stops, and gives what it keeps to another node. */
  readonly onLeave: (heir: string) => Promise<void>;
}

/** This gateway as a node of a cluster. */
export interface Cluster {
  readonly open: OpenConnection;
  readonly desk: NodeDesk;
  readonly membership: Membership;
  readonly elsewhere: ReturnType<typeof createAskElsewhere>;
  /** The database has lost changes: what this node owns may be somebody else's. */
  noteLoss(): void;
  /** Has every other node do the same with its instance. Resolves when all have, or do not answer. */
  order(order: InstanceOrder, instance: Instance, limitMs: number): Promise<void>;
  /** What happens at other nodes. */
  readonly watch: NodeWatch;
  /** Resolves when all other nodes have heard it, or do not answer. */
  tellNodes(note: ClientNote, body?: Buffer): Promise<void>;
  /** Takes nothing new, and hands over what it runs; running calls are waited for until the signal aborts. */
  drain(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Opens the database of the cluster, listens for other nodes, and joins. */
export async function startCluster(deps: ClusterDeps): Promise<Cluster> {
  const { settings } = deps.config();
  const { id: node } = deps;
  const { listen, advertise, leaseMs, labels } = settings.cluster ?? missing();
  const { store, key } = await deps.store.cluster({
    url: settings.database ?? missing(),
    // A statement that takes longer than the time between two renewals is as good as none.
    statementMs: Math.max(500, Math.round(leaseMs / 5)),
  });
  const { host } = splitAddress(listen);
  const about = { id: node, address: "", key: createHmac("sha256", key).update("key of nodes").digest("hex") };
  const { membership, placed, network, reaching, desk, watch, life } = createNode(deps, {
    ...{ store, key, about, listen, leaseMs, labels },
    noteUse: ({ node: other, uses }) => shared.note(other, uses),
  });
  const shared = createSharedLimits({
    ...{ clock: deps.clock, admission: deps.admission(), limits: () => deps.config().settings.limits },
    gateways: () => membership.nodes().filter(({ state }) => state !== "dead").length,
    tell: (uses) => void tellAll({ question: "use", node, uses }, leaseMs),
  });

  async function tellAll(asked: PeerQuestion, limitMs: number, body?: Buffer): Promise<void> {
    const others = membership.nodes().filter(({ id, state }) => id !== node && state !== "dead");
    const tell = async (other: KnownNode) => await (await reaching.reach(other)).ask(asked, limitMs, body);
    await Promise.allSettled(others.map(tell));
  }

  async function close(): Promise<void> {
    shared.close();
    reaching.close();
    await Promise.allSettled([network.close(), store.close()]);
  }

  try {
    const port = await network.listen();
    about.address = advertise ?? `${ownAddress(host)}:${port}`;
    await refuseMisfit(about, store, reaching.reach);
    await membership.start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...{ open: placed.open, membership, desk, watch },
    elsewhere: createAskElsewhere({ membership, clock: deps.clock, reach: reaching.reach, store }),
    order: async (question, { id: instance, owner }, limitMs) =>
      await tellAll({ question, instance, owner, limitMs }, limitMs),
    tellNodes: async (note, body) => await tellAll(note, leaseMs, body),
    noteLoss: () => membership.begin("the database has lost changes"),
    async drain(signal) {
      life.isStopping = true;
      await membership.drain();
      // Without another node, its clients are served by what runs here until the end.
      const heir = heirOf(membership, deps.clock);
      if (heir === undefined) await membership.resume();
      else
        await Promise.all([
          placed.handOver(signal),
          untilAborted(deps.onLeave(heir.id), signal).catch(() => undefined),
        ]);
    },
    async close() {
      await membership.leave();
      await close();
    },
  };
}

interface NodeOptions {
  readonly store: ClusterStore;
  readonly key: Uint8Array;
  /** How others know it. The address is known when it listens. */
  readonly about: { readonly id: string; readonly address: string; readonly key: string };
  readonly listen: string;
  readonly leaseMs: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Another node told what people use there. */
  readonly noteUse: (note: UseNote) => void;
}

/** The parts of a node, which refer to each other; none of them does anything yet. */
function createNode(deps: ClusterDeps, { store, key, about, listen, leaseMs, labels, noteUse }: NodeOptions) {
  const { config, clock, log } = deps;
  const { limits } = config().settings;
  const startedAtMs = clock.now();
  const hashOf = createConfigHash(config);
  const loadOf = createNodeLoad({ ...deps, ...deps.load });
  const reaching = createReach({ ...deps, network: () => network, silenceMs: leaseMs });
  const info = (): NodeInfo => ({
    ...{ version: deps.version, startedAtMs, key: about.key },
    ...{ config: hashOf(), instances: placed.size, load: loadOf(), labels },
  });
  const teller = createTeller(deps, about.id);
  const membership: Membership = createMembership({
    ...{ store, clock, log, leaseMs, info, id: about.id, address: () => about.address },
    areAllCutOff: async (others) => await areCutOff(others, reaching.reach, leaseMs),
    onRenewed({ owned, wanted }) {
      greet();
      reaching.leave(membership.nodes());
      teller.seen(membership.nodes());
      placed.tidy();
      giveUp(wanted);
      watch.look();
      if (owned < placed.size) void placedOf(store, membership, placed);
    },
  });
  const host = createPeerHost({
    ...{ node: about.id, isStopping: () => membership.isDraining, holds: (instance) => placed.holds(instance) },
    find: (instance, owner) => deps.find(instance as InstanceId, owner),
    ...{ mayServe: () => membership.isLeased, answerOf: deps.answerOf, follow: deps.follow },
    async tell(asked, body) {
      if ("instance" in asked) return await obey(asked, deps.find(asked.instance as InstanceId, asked.owner));
      if (asked.question === "drain" || asked.question === "resume") return desk.take(asked.question);
      if (asked.question === "client") deps.onClient(asked, body);
      if (asked.question === "use") noteUse(asked);
      return { reaches: clock.monotonic() - membership.reachedAtMs < (2 * leaseMs) / 5 };
    },
  });
  const watch = createNodeWatch({ membership, reach: reaching.reach });
  const greet = createGreeting(membership, reaching.reach);
  const network = createPeerNetwork({
    ...splitAddress(listen),
    key: new Uint8Array(hkdfSync("sha256", key, "", "toolyard peers", 32)),
    me: () => membership.me,
    bodyBytes: Math.max(limits.upstreamMessageBytes, limits.requestBodyBytes),
    onPeer(peer, frames) {
      if (!membership.nodes().some(({ id, epoch }) => id === peer.id && epoch === peer.epoch)) void membership.look();
      return host.serve(frames);
    },
  });
  const placement = createPlacement({
    ...{ store, membership, clock, labels, reach: reaching.reach },
    kept: (instance) => placed.kept(instance),
  });
  const placed: PlacedInstances = createPlacedInstances({
    ...{ store, membership, placement, clock, host },
    ...{ openHere: deps.openHere, ownerOf: deps.ownerOf },
    onTaken: teller.taken,
  });
  const giveUp = createWants({
    ...{ store, membership, placed, clock, leaseMs, reach: reaching.reach },
    drainMs: () => config().settings.instances.drainTimeoutMs,
  });
  const life = { isStopping: false };
  const desk = createNodeDesk({
    ...{ membership, clock, info, reach: reaching.reach },
    ...{ maxConnections: store.maxConnections, giveFiles: store.giveFiles },
    ...{ address: () => about.address, isStopping: () => life.isStopping },
    carryOut: carryOutBy(config, membership, placed),
  });
  membership.onFenced(placed.loseAll);
  membership.onUnrenewed(placed.loseExclusive);
  membership.onFenced(() => teller.fenced(about.address));
  return { membership, placed, network, reaching, desk, watch, life };
}

/** What a person ordered at another node. */
async function obey(
  { question, limitMs }: Extract<PeerQuestion, { instance: string }>,
  instance: Instance | undefined,
): Promise<{ readonly isDone: boolean }> {
  // One that runs elsewhere is restarted there; here it only has to be in use again.
  if (instance === undefined || (question === "restart" && instance.connection?.far !== undefined))
    return { isDone: false };
  if (question === "stop") await instance.stop();
  else await instance.restart(abortAfter(limitMs)).catch(() => undefined);
  return { isDone: true };
}

/** Tells as events what becomes of nodes, and what this node takes over. */
function createTeller({ events, clock, version, find, ownerOf }: ClusterDeps, me: string) {
  const changesOf = createNodeChanges(me);
  return {
    seen(nodes: readonly KnownNode[]): void {
      for (const { type, node } of changesOf(nodes, clock.monotonic())) {
        const { id, address, info } = node;
        events.emit({ type, atMs: clock.now(), node: id, address, version: info.version });
      }
    },
    fenced(address: string): void {
      events.emit({ type: "node.fenced", atMs: clock.now(), node: me, address, version });
    },
    taken(instance: InstanceId, taken: Taken, gapMs: number | undefined): void {
      const about = find(instance, ownerOf(instance))?.about();
      if (about !== undefined) events.emit({ ...about, type: "instance.moved", node: me, ...taken, gapMs });
    },
  };
}

/** Handing over takes as long as calls run: it goes on after the order was answered. */
function carryOutBy(config: () => Config, membership: Membership, placed: PlacedInstances) {
  return (order: NodeOrder): void => {
    if (order === "resume") return void membership.resume();
    const patience = abortAfter(config().settings.instances.drainTimeoutMs);
    void membership.drain().then(async () => await placed.handOver(patience));
  };
}

function missing(): never {
  throw new GatewayError("CONFIG_INVALID", "nodes of a cluster meet in a PostgreSQL, and none is configured", {
    hint: "Set toolyard.database, or leave toolyard.cluster out.",
  });
}

async function placedOf(store: ClusterStore, membership: Membership, placed: PlacedInstances): Promise<void> {
  const { me } = membership;
  const owned = await store.owned(me).catch(() => undefined);
  if (owned !== undefined && membership.me.epoch === me.epoch) placed.loseOthers(owned);
}

/** The address by which others reach this machine, where the configuration names none. */
function ownAddress(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host.includes(":") ? `[${host}]` : host;
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}
