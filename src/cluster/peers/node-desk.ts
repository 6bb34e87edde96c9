import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { NodeInfo, NodeKey, NodeState } from "../../store/shared.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import type { NodeOrder } from "./messages.ts";
import type { PeerClient } from "./peer-client.ts";
import { Unreachable } from "./peer-links.ts";

/** A node, as those who run the cluster see it. */
export interface SeenNode extends NodeKey, NodeInfo {
  /** Whether it is the node that was asked. */
  readonly isThis: boolean;
  /** `silent`: its lease has run out, and no one has proved it dead. */
  readonly state: NodeState | "silent";
  readonly address: string;
  /** The rest of its lease, as this node knows it; 0 where there is none. */
  readonly leaseLeftMs: number;
  /** Whether its configuration is not this node's. */
  readonly differs: boolean;
}

/** What those who run a cluster see and order. */
export interface NodeDesk {
  /** As this node last heard, at the renewal of its lease; what it says of itself is of this moment. */
  list(): readonly SeenNode[];
  /**
   * Has a node take nothing new and hand over what it runs (`drain`), or take part again (`resume`). It goes on
   * answering its clients. Resolves when that node has agreed. Rejects with NODE_UNKNOWN, NODE_ALONE, NODE_SILENT, or
   * DRAINING where that node is being stopped.
   */
  order(id: string, order: NodeOrder): Promise<SeenNode>;
  /** That node has the files of the instance from now on, and alone runs it. Rejects with NODE_UNKNOWN. */
  giveFiles(instance: string, node: string): Promise<void>;
  /** How many connections the database takes. Rejects while it is away. */
  maxConnections(): Promise<number>;
  /** Does what another node asks for. */
  take(order: NodeOrder): NodeAnswer;
}

/** A type, as it travels as JSON. */
export type NodeAnswer = { readonly state: NodeState } | { readonly refused: "stopping" };

export interface NodeDeskDeps {
  readonly membership: Membership;
  readonly clock: Clock;
  readonly address: () => string;
  readonly info: () => NodeInfo;
  readonly reach: (node: KnownNode) => Promise<Pick<PeerClient, "ask">>;
  /** Carries the order out at this node, and returns at once: handing over takes as long as calls run. */
  readonly carryOut: (order: NodeOrder) => void;
  readonly isStopping: () => boolean;
  readonly maxConnections: NodeDesk["maxConnections"];
  readonly giveFiles: NodeDesk["giveFiles"];
}

/** A node that takes longer to say yes has something else to do. */
const orderMs = 3_000;

export function createNodeDesk(deps: NodeDeskDeps): NodeDesk {
  const { membership, clock } = deps;

  function see(node: KnownNode): SeenNode {
    const { leasedUntilMs, info, ...rest } = node;
    const isThis = node.id === membership.me.id;
    const own = deps.info();
    const leaseLeftMs = Math.max(0, Math.round(leasedUntilMs - clock.monotonic()));
    const told = isThis && node.state !== "dead" ? stateOf(membership) : node.state;
    const state = leaseLeftMs === 0 && told !== "dead" ? "silent" : told;
    const { load, ...about } = isThis ? own : info;
    return {
      ...{ ...rest, ...about, isThis, leaseLeftMs, differs: !isThis && info.config !== own.config, state },
      // How one is that says nothing any more is not known.
      ...(load === undefined || state === "dead" || state === "silent" ? {} : { load }),
    };
  }

  function find(id: string): KnownNode {
    const found = membership.nodes().find((node) => node.id === id);
    if (found === undefined) throw new GatewayError("NODE_UNKNOWN", `no node of the cluster is called ${id}`);
    return found;
  }

  /** Without another node that is ready, what it gives up would run nowhere. */
  function requireOther({ id }: KnownNode): void {
    const isOther = (node: SeenNode): boolean => node.id !== id && node.state === "ready";
    if (!membership.nodes().map(see).some(isOther))
      throw new GatewayError("NODE_ALONE", `no other node is ready to take over what ${id} runs`);
  }

  async function ask(node: KnownNode, order: NodeOrder): Promise<NodeState> {
    try {
      const client = await deps.reach(node);
      const { state, refused } = await client.ask({ question: order }, orderMs);
      if (refused !== undefined) throw stopping(node.id);
      if (state === "ready" || state === "draining") return state;
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      const why = error instanceof Unreachable || error instanceof Error ? error.message : "";
      throw new GatewayError("NODE_SILENT", `${node.id} was not told: ${why}`);
    }
    throw new GatewayError("NODE_SILENT", `${node.id} is of a version that does not know how to ${order}`);
  }

  function take(order: NodeOrder): NodeAnswer {
    if (deps.isStopping()) return { refused: "stopping" };
    deps.carryOut(order);
    return { state: stateOf(membership) };
  }

  return {
    list: () => membership.nodes().map(see),
    async order(id, order) {
      const node = find(id);
      if (node.state === "dead") throw new GatewayError("NODE_UNKNOWN", `the node ${id} has ended`);
      if (order === "drain") requireOther(node);
      if (id !== membership.me.id) return { ...see(node), state: await ask(node, order) };
      if ("refused" in take(order)) throw stopping(id);
      return see(node);
    },
    async giveFiles(instance, id) {
      await deps.giveFiles(instance, find(id).id);
    },
    maxConnections: deps.maxConnections,
    take,
  };
}

function stopping(id: string): GatewayError {
  return new GatewayError("DRAINING", `the node ${id} is being stopped`);
}

function stateOf({ isDraining }: Membership): NodeState {
  return isDraining ? "draining" : "ready";
}
