import { createHash, createHmac, hkdfSync } from "node:crypto";
import { hostname, networkInterfaces } from "node:os";
import type { Config } from "../../config/config.ts";
import { canonicalJson } from "../../config/file/hash.ts";
import { createNodeChanges } from "../../cluster/leases/node-changes.ts";
import { createMembership, type KnownNode, type Membership } from "../../cluster/leases/node-membership.ts";
import { createPeerClient, type PeerClient } from "../../cluster/peers/peer-client.ts";
import type { FarOptions } from "../../cluster/peers/far-connection.ts";
import { createPeerNetwork, splitAddress, Unreachable } from "../../cluster/peers/peer-links.ts";
import { createNodeDesk, type NodeDesk } from "../../cluster/peers/node-desk.ts";
import { createPeerHost } from "../../cluster/peers/peer-host.ts";
import { createPlacedInstances, type PlacedInstances } from "../../cluster/placement/placed-open.ts";
import { createPlacement } from "../../cluster/placement/placement.ts";
import type { ClientNote, InstanceOrder, NodeOrder, PeerQuestion } from "../../cluster/peers/messages.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { OpenConnection } from "../../servers/instance/instance-deps.ts";
import type { ClusterStore, NodeInfo, NodeKey, Taken } from "../../store/shared.ts";
import type { GatewayStore } from "../../store/store.ts";

export interface ClusterDeps {
  readonly config: () => Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly events: Pick<EventBus, "emit">;
  readonly version: string;
  readonly store: Pick<GatewayStore, "cluster">;
  readonly openHere: OpenConnection;
  readonly waiting: FarOptions["waiting"];
  /** The instance, made for its owner where it was not used here before. */
  readonly find: (instance: InstanceId, owner: string | null) => Instance | undefined;
  readonly ownerOf: (instance: InstanceId) => string | null;
  /** A client of a session sent something to another node, which may be meant for a call here. */
  readonly onClient: (note: ClientNote) => void;
}

/** This gateway as a node of a cluster. */
export interface Cluster {
  readonly open: OpenConnection;
  readonly desk: NodeDesk;
  readonly membership: Membership;
  /** The database has lost changes: what this node owns may be somebody else's. */
  noteLoss(): void;
  /** Has every other node do the same with its instance. Resolves when all have, or do not answer. */
  order(order: InstanceOrder, instance: Instance, limitMs: number): Promise<void>;
  /** Passes on what a client sent and nothing here waits for. Returns at once. */
  tellNodes(note: ClientNote): void;
  /** Takes nothing new, and hands over what it runs; running calls are waited for until the signal aborts. */
  drain(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Opens the database of the cluster, listens for other nodes, and joins. */
export async function startCluster(deps: ClusterDeps): Promise<Cluster> {
  const { settings } = deps.config();
  const { node = hostname(), listen, advertise, leaseMs } = settings.cluster ?? missing();
  const { store, key } = await deps.store.cluster({
    url: settings.database ?? missing(),
    // A statement that takes longer than the time between two renewals is as good as none.
    statementMs: Math.max(500, Math.round(leaseMs / 5)),
  });
  const { host } = splitAddress(listen);
  const about = { id: node, address: "", key: createHmac("sha256", key).update("key of nodes").digest("hex") };
  const { membership, placed, network, reaching, desk, life } = createNode(deps, {
    ...{ store, key, about, listen, leaseMs },
  });

  async function tellAll(asked: PeerQuestion, limitMs: number): Promise<void> {
    const others = membership.nodes().filter(({ id, state }) => id !== node && state !== "dead");
    await Promise.allSettled(others.map(async (other) => await (await reaching.reach(other)).ask(asked, limitMs)));
  }

  async function close(): Promise<void> {
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
    ...{ open: placed.open, membership, desk },
    order: async (question, { id, owner }, limitMs) => await tellAll({ question, instance: id, owner }, limitMs),
    tellNodes: (note) => void tellAll({ question: "client", ...note }, leaseMs),
    noteLoss: () => membership.begin("the database has lost changes"),
    async drain(signal) {
      life.isStopping = true;
      await membership.drain();
      await placed.handOver(signal);
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
}

/** The parts of a node, which refer to each other; none of them does anything yet. */
function createNode(deps: ClusterDeps, { store, key, about, listen, leaseMs }: NodeOptions) {
  const { config, clock, log } = deps;
  const { limits } = config().settings;
  const startedAtMs = clock.now();
  const hashOf = createConfigHash(config);
  const reaching = createReach({ ...deps, network: () => network, silenceMs: leaseMs });
  const info = (): NodeInfo => ({
    ...{ version: deps.version, startedAtMs, key: about.key },
    ...{ config: hashOf(), instances: placed.size },
  });
  const teller = createTeller(deps, about.id);
  const membership: Membership = createMembership({
    ...{ store, clock, log, leaseMs, info, id: about.id, address: () => about.address },
    areAllCutOff: async (others) => await areCutOff(others, reaching.reach, leaseMs),
    onRenewed(owned) {
      reaching.leave(membership.nodes());
      teller.seen(membership.nodes());
      placed.tidy();
      if (owned < placed.size) void placedOf(store, membership, placed);
    },
  });
  const host = createPeerHost({
    ...{ node: about.id, isStopping: () => membership.isDraining, holds: (instance) => placed.holds(instance) },
    find: (instance, owner) => deps.find(instance as InstanceId, owner),
    mayServe: () => membership.isLeased,
    async tell(asked) {
      if ("instance" in asked) return await obey(asked.question, deps.find(asked.instance as InstanceId, asked.owner));
      if (asked.question === "drain" || asked.question === "resume") return desk.take(asked.question);
      if ("session" in asked) deps.onClient(asked);
      return { reaches: clock.monotonic() - membership.reachedAtMs < (2 * leaseMs) / 5 };
    },
  });
  const network = createPeerNetwork({
    ...splitAddress(listen),
    key: new Uint8Array(hkdfSync("sha256", key, "", "toolyard peers", 32)),
    me: () => membership.me,
    bodyBytes: Math.max(limits.upstreamMessageBytes, limits.requestBodyBytes),
    onPeer: (_peer, frames) => host.serve(frames),
  });
  const placement = createPlacement({
    ...{ store, membership, clock, reach: reaching.reach },
    kept: (instance) => placed.kept(instance),
  });
  const placed: PlacedInstances = createPlacedInstances({
    ...{ store, membership, placement, clock, host },
    ...{ openHere: deps.openHere, ownerOf: deps.ownerOf },
    onTaken: teller.taken,
  });
  const life = { isStopping: false };
  const desk = createNodeDesk({
    ...{ membership, clock, info, reach: reaching.reach, maxConnections: store.maxConnections },
    ...{ address: () => about.address, isStopping: () => life.isStopping },
    carryOut: carryOutBy(config, membership, placed),
  });
  membership.onFenced(placed.loseAll);
  membership.onFenced(() => teller.fenced(about.address));
  return { membership, placed, network, reaching, desk, life };
}

/** What a person ordered at another node. */
async function obey(order: InstanceOrder, instance: Instance | undefined): Promise<{ readonly isDone: boolean }> {
  // One that runs elsewhere is restarted there; here it only has to be in use again.
  if (instance === undefined || (order === "restart" && instance.connection?.far !== undefined))
    return { isDone: false };
  if (order === "stop") await instance.stop();
  else await instance.restart(new AbortController().signal).catch(() => undefined);
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
    taken(instance: InstanceId, taken: Taken): void {
      const about = find(instance, ownerOf(instance))?.about();
      if (about !== undefined) events.emit({ ...about, type: "instance.moved", node: me, ...taken });
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
  throw new Error("a cluster needs `cluster` and `database`");
}

async function placedOf(store: ClusterStore, membership: Membership, placed: PlacedInstances): Promise<void> {
  const { me } = membership;
  const owned = await store.owned(me).catch(() => undefined);
  if (owned !== undefined && membership.me.epoch === me.epoch) placed.loseOthers(owned);
}

interface ReachDeps extends Pick<ClusterDeps, "clock" | "log" | "waiting"> {
  readonly network: () => ReturnType<typeof createPeerNetwork>;
  /** A node of which nothing is heard for so long is left. */
  readonly silenceMs: number;
}

const nameOf = ({ id, epoch }: NodeKey): string => `${id} ${epoch}`;

/** One client for each life of a node; a link that ended is made again by the next who needs it. */
function createReach({ network, waiting, clock, log, silenceMs }: ReachDeps) {
  const clients = new Map<string, Promise<PeerClient>>();

  async function connect(node: NodeKey & { readonly address: string }): Promise<PeerClient> {
    const client = createPeerClient(await network().dial(node), waiting);
    const look = (): void =>
      void clock.after(silenceMs / 5, () => {
        if (client.isOpen) client.ask({ question: "reach" }, silenceMs).then(look, client.close);
      });
    look();
    void client.closed.then(() => {
      clients.delete(nameOf(node));
      log.info({ component: "cluster", node: node.id }, `the link to ${node.id} has ended`);
    });
    return client;
  }

  /** The lives of nodes that are over are left: callers that wait there are told. */
  function leave(nodes: readonly KnownNode[]): void {
    const alive = new Set(nodes.filter(({ state }) => state !== "dead").map(nameOf));
    for (const [name, client] of clients)
      if (!alive.has(name))
        client.then(
          ({ close }) => close(),
          () => undefined,
        );
  }

  return {
    async reach(node: NodeKey & { readonly address: string }): Promise<PeerClient> {
      const name = nameOf(node);
      const known = clients.get(name) ?? connect(node);
      clients.set(name, known);
      try {
        return await known;
      } catch (error) {
        if (clients.get(name) === known) clients.delete(name);
        throw error;
      }
    },
    leave,
    close: () => leave([]),
  };
}

/**
 * Throws CONFIG_INVALID for a node that others cannot be nodes with: two of one name would end each other's lives for
 * ever, and those with different keys cannot reach each other.
 */
async function refuseMisfit(
  { id, address, key }: Pick<KnownNode, "id" | "address"> & { readonly key: string },
  store: ClusterStore,
  reach: ReturnType<typeof createReach>["reach"],
): Promise<void> {
  // While the database is away, nothing is known of others.
  const nodes = (await store.nodes().catch(() => [])).filter(({ state, leftMs }) => state !== "dead" && leftMs > 0);
  const stranger = nodes.find(({ info }) => info.key !== key);
  if (stranger !== undefined)
    throw new GatewayError("CONFIG_INVALID", `the node ${stranger.id} has another key than this one`, {
      hint: "Give all nodes the same TOOLYARD_KEY, and where it was changed, the file audit.key of one that was there before.",
    });
  const twin = nodes.find((row) => row.id === id && row.address !== address);
  const isThere =
    twin !== undefined &&
    (await reach(twin).then(
      () => true,
      () => false,
    ));
  if (isThere)
    throw new GatewayError("CONFIG_INVALID", `another node is called ${id}, at ${twin.address}`, {
      hint: "Give each node a name that no other has, with toolyard.cluster.node.",
    });
}

const askMs = 500;

/** Whether all of these answer, and none of them reaches the database: then no one can take anything over. */
async function areCutOff(
  others: readonly KnownNode[],
  reach: ReturnType<typeof createReach>["reach"],
  leaseMs: number,
): Promise<boolean> {
  const answers = others.map(async (node) => {
    try {
      const client = await reach(node);
      return (await client.ask({ question: "reach" }, Math.min(askMs, leaseMs / 5)))["reaches"] === false;
    } catch (error) {
      return error instanceof Unreachable && error.isGone;
    }
  });
  return (await Promise.all(answers)).every(Boolean);
}

/** Of what nodes have to have in common: servers, wherever their node keeps its files, and rules of calls. */
function createConfigHash(config: () => Config): () => string {
  let hashed: { readonly of: Config; readonly hash: string } | undefined;
  return () => {
    const of = config();
    if (hashed?.of === of) return hashed.hash;
    const servers = of.servers.map(({ slug, transport, roots, scope, tools, disabledReason }) => {
      const kept = "cwd" in transport ? { ...transport, cwd: undefined } : transport;
      return { slug, transport: kept, roots, scope, tools, disabledReason };
    });
    const text = canonicalJson({ servers, policy: of.settings.policy });
    hashed = { of, hash: createHash("sha256").update(text, "utf8").digest("hex") };
    return hashed.hash;
  };
}

/** The address by which others reach this machine, where the configuration names none. */
function ownAddress(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host.includes(":") ? `[${host}]` : host;
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}
