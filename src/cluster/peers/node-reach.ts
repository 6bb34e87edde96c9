import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { ClusterStore, NodeKey, NodeRow } from "../../store/shared.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import type { FarOptions } from "./far-connection.ts";
import { createPeerClient, type PeerClient } from "./peer-client.ts";
import { Unreachable, type PeerNetwork } from "./peer-links.ts";

/** A client of that life of a node. Rejects with Unreachable. */
export type Reach = (node: NodeKey & { readonly address: string }) => Promise<PeerClient>;

interface ReachDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly waiting: FarOptions["waiting"];
  readonly network: () => PeerNetwork;
  /** A node of which nothing is heard for so long is left. */
  readonly silenceMs: number;
}

const nameOf = ({ id, epoch }: NodeKey): string => `${id} ${epoch}`;

/** One client for each life of a node; a link that ended is made again by the next who needs it. */
export function createReach({ network, waiting, clock, log, silenceMs }: ReachDeps) {
  const clients = new Map<string, { readonly node: NodeKey; readonly client: Promise<PeerClient> }>();

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

  async function end(client: Promise<PeerClient>): Promise<void> {
    await client.then(
      ({ close }) => close(),
      () => undefined,
    );
  }

  /** The lives of nodes that are over are left: callers that wait there are told. */
  function leave(nodes: readonly KnownNode[]): void {
    const rows = new Map(nodes.map((node) => [node.id, node]));
    for (const { node, client } of clients.values()) {
      const row = rows.get(node.id);
      // One that is not in the list joined after it was made.
      if (row === undefined || row.epoch < node.epoch) continue;
      if (row.epoch > node.epoch || row.state === "dead") void end(client);
    }
  }

  return {
    async reach(node: NodeKey & { readonly address: string }): Promise<PeerClient> {
      const name = nameOf(node);
      const client = clients.get(name)?.client ?? connect(node);
      clients.set(name, { node, client });
      try {
        return await client;
      } catch (error) {
        if (clients.get(name)?.client === client) clients.delete(name);
        throw error;
      }
    },
    leave,
    close() {
      for (const { client } of clients.values()) void end(client);
    },
  };
}

/**
 * Throws CONFIG_INVALID for a node that others cannot be nodes with: two of one name would end each other's lives for
 * ever, and those with different keys cannot reach each other; also for a database that no nodes can share.
 */
export async function refuseMisfit(
  { id, address, key }: Pick<KnownNode, "id" | "address"> & { readonly key: string },
  store: ClusterStore,
  reach: Reach,
): Promise<void> {
  const nodes = (await nodesOf(store)).filter(({ state, leftMs }) => state !== "dead" && leftMs > 0);
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

/** While the database is away, nothing is known of others. Throws what says that it cannot be used as it is. */
async function nodesOf(store: ClusterStore): Promise<readonly NodeRow[]> {
  try {
    return await store.nodes();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    return [];
  }
}

const askMs = 500;

/** Whether all of these answer, and none of them reaches the database: then no one can take anything over. */
export async function areCutOff(others: readonly KnownNode[], reach: Reach, leaseMs: number): Promise<boolean> {
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

/** With each life that it begins, a node says hello to all others, so that they need not wait to hear of it. */
export function createGreeting(membership: Membership, reach: Reach): () => void {
  let greeted: number | undefined;
  return () => {
    const { id, epoch } = membership.me;
    if (greeted === epoch) return;
    greeted = epoch;
    for (const node of membership.nodes())
      if (node.id !== id && node.state !== "dead") reach(node).catch(() => undefined);
  };
}
