import { hkdfSync, randomBytes } from "node:crypto";
import { question, type Asked } from "./question.ts";
import { integer, table, text, word } from "./state-table.ts";

/** What a key is for: a key of one use opens nothing of another. */
export type KeyUse = "sessions" | "cursors" | "states";

/** What can be claimed: `state`, a sealed state that was opened; `session`, one that its client ended. */
export type ClaimKind = "state" | "session";

/** Things that happen once over all gateways of a database, each remembered until it cannot happen again anyway. */
export const claimTables = {
  claim: table({ kind: word<ClaimKind>(), id: text, seq: integer, untilMs: integer }),
};

export interface ClaimAsk {
  readonly kind: ClaimKind;
  /** At most {@link mostClaims}. */
  readonly ids: readonly string[];
  /** How long they are remembered, by the clock of `nowMs`. */
  readonly untilMs: number;
  readonly nowMs: number;
}

/** In one question. */
export const mostClaims = 500;

export const claimQuestions = {
  /** Those of the ids that were claimed before. */
  claimed: question<Pick<ClaimAsk, "kind" | "ids">, readonly string[]>(),
};

/** Rejects as the rest of the store does. */
export interface ClaimStore extends Asked<typeof claimQuestions> {
  /** Resolves with those that were not claimed before: of several gateways that ask at once, one gets each. */
  claim(ask: ClaimAsk): Promise<readonly string[]>;
  /**
   * Calls back when another gateway learned that sessions ended: with their ids, and with undefined where those that
   * are known here have to be looked up. Returns what ends that.
   */
  onEnded(listener: (ids: readonly string[] | undefined) => void): () => void;
}

/**
 * What gateways of one database and one key have in common, so that what one of them gave out is good at the others,
 * and after a restart. A gateway without a database shares nothing: its keys are random, and end with it.
 */
export interface SharedState {
  /**
   * The keys of a use, 32 bytes each. Everything is sealed with the first; what was sealed with the one after it, which
   * was the first before the gateway's key was changed, can still be opened.
   */
  keyFor(use: KeyUse): readonly Buffer[];
  /** Undefined where nothing is shared. */
  readonly claims: ClaimStore | undefined;
}

export interface OpenedShare {
  /** Of the gateway: the current one first. */
  readonly secrets: readonly Uint8Array[];
  readonly claims: ClaimStore;
}

/** Shares nothing until `open` is called, which is before anything is given out. */
export function createSharedState(): SharedState & { open(share: OpenedShare): void } {
  let share: OpenedShare | undefined;
  const made = new Map<KeyUse, readonly Buffer[]>();
  return {
    keyFor(use) {
      const known = made.get(use);
      if (known !== undefined) return known;
      const derive = (secret: Uint8Array): Buffer => Buffer.from(hkdfSync("sha256", secret, "", `toolyard ${use}`, 32));
      const keys = share?.secrets.map(derive) ?? [randomBytes(32)];
      made.set(use, keys);
      return keys;
    },
    get claims() {
      return share?.claims;
    },
    open(opened) {
      share = opened;
      made.clear();
    },
  };
}

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
