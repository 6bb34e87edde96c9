/**
 * What gateways of one database know of each other, and which of them runs what. Kept apart from people and records:
 * nothing here waits for those. Everything rejects while the database is away.
 */
export interface ClusterStore {
  /** Begins a new life of this node, which owns nothing. Resolves to its epoch. */
  join(node: JoiningNode): Promise<number>;
  /** Extends the lease, and tells how things are. */
  renew(mine: NodeKey, renewal: Renewal): Promise<Renewed>;
  /** Takes an instance that no node runs. Resolves to its epoch, or to the node that has it. */
  claim(instance: string, mine: NodeKey, claim: ClaimOptions): Promise<Claimed>;
  /** Gives an instance back, if it is this node's; the heir alone may have it, while it is ready. */
  release(instance: string, mine: NodeKey, heir: string | undefined): Promise<void>;
  /** The instances that the database says are this node's. */
  owned(mine: NodeKey): Promise<readonly string[]>;
  /** That life of a node is over. */
  markDead(node: NodeKey): Promise<void>;
  close(): Promise<void>;
}

/** One life of one node. Epochs of a node only grow. */
export interface NodeKey {
  readonly id: string;
  readonly epoch: number;
}

/** `draining`: it serves, and takes nothing new. */
export type NodeState = "ready" | "draining" | "dead";

/** What a node tells of itself. */
export interface NodeInfo {
  readonly version: string;
  /** Wall-clock time, ms. */
  readonly startedAtMs: number;
  /** SHA-256 of its configuration, in hex. */
  readonly config: string;
  readonly instances: number;
}

export interface Renewal {
  readonly leaseMs: number;
  readonly state: NodeState;
  readonly info: NodeInfo;
}

export interface JoiningNode extends Renewal {
  readonly id: string;
  /** Where other nodes reach it: host and port. */
  readonly address: string;
  /** The epoch is at least this. */
  readonly leastEpoch: number;
}

export interface NodeRow extends NodeKey {
  readonly address: string;
  readonly state: NodeState;
  /** The rest of its lease by the database's clock, ms; negative when it has run out. */
  readonly leftMs: number;
  readonly info: NodeInfo;
}

export interface Renewed {
  /** False when this life of the node is over: another one has begun, or somebody has proved it dead. */
  readonly isMine: boolean;
  /** How many instances the database says are this node's. */
  readonly owned: number;
  readonly nodes: readonly NodeRow[];
}

export interface ClaimOptions {
  /** Also from a node whose lease has run out. */
  readonly takesLapsed: boolean;
}

export type Claimed =
  | { readonly kind: "mine"; readonly epoch: number }
  /** `node` is undefined when its row is not there any more, or only the heir may have it. */
  | { readonly kind: "taken"; readonly node: NodeRow | undefined };
