import { hkdfSync, randomBytes } from "node:crypto";
import { question, type Asked } from "./question.ts";
import { integer, table, text, textOrNull, word, type RowOf } from "./state-table.ts";

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
  /** All nodes that have joined of late. Rejects with CONFIG_INVALID for a database that nodes cannot share. */
  nodes(): Promise<readonly NodeRow[]>;
  /** Begins a new life of this node, which owns nothing. Resolves to its epoch. */
  join(node: JoiningNode): Promise<number>;
  /** Extends the lease, and tells how things are. */
  renew(mine: NodeKey, renewal: Renewal): Promise<Renewed>;
  /** Takes an instance that no node runs. Resolves to its epoch, or to the node that has it. */
  claim(instance: string, mine: NodeKey, claim: ClaimOptions): Promise<Claimed>;
  /** The node that has an instance, or alone may have it. */
  whereIs(instance: string): Promise<Whereabouts>;
  /** Notes that a node has calls for what `owner` runs, and cannot reach it. */
  want(instance: string, owner: NodeKey, by: NodeKey): Promise<void>;
  /** Notes that the node gets what it wanted. Resolves to false where it was handed over less than a minute ago. */
  grant(want: Want): Promise<boolean>;
  /** From now on that node has the files of the instance. */
  giveFiles(instance: string, node: string): Promise<void>;
  /**
   * Gives back what was claimed; the heir alone may have it, while that is ready. Never rejects: `unknown` where the
   * database was asked and did not answer, so that another node may have it by now, or soon.
   */
  release(claim: OwnClaim, heir: string | undefined): Promise<"released" | "unasked" | "unknown">;
  /** The instances that the database says are this node's. */
  owned(mine: NodeKey): Promise<readonly string[]>;
  /** How many connections the database takes, from all. */
  maxConnections(): Promise<number>;
  /** That life of a node is over. */
  markDead(node: NodeKey): Promise<void>;
  close(): Promise<void>;
}

/** One life of one node. Epochs of a node only grow. */
export interface NodeKey {
  readonly id: string;
  readonly epoch: number;
}

/** One claim of an instance. Epochs of an instance only grow. */
export interface OwnClaim {
  readonly instance: string;
  readonly node: NodeKey;
  readonly epoch: number;
}

/** `draining`: it serves, and takes nothing new. */
export type NodeState = "ready" | "draining" | "dead";

/** What a node tells of itself. */
export interface NodeInfo {
  readonly version: string;
  /** Wall-clock time, ms. */
  readonly startedAtMs: number;
  /** SHA-256 of what its configuration has in common with that of others, in hex. */
  readonly config: string;
  /** Tells keys of nodes apart, without telling anything of them. */
  readonly key: string;
  readonly instances: number;
  /** Absent for a release that has none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Not known until it was measured, and of a node of a version that does not tell it. */
  readonly load?: NodeLoad | undefined;
}

/** What a node has to do, of the last seconds. */
export interface NodeLoad {
  /** Requests of its clients to servers. */
  readonly callsPerSecond: number;
  /** Those of them that it passed to other nodes. */
  readonly forwardedPerSecond: number;
  /** That it and the processes of its servers use, of those that it may use. */
  readonly cpuCores: number;
  readonly cores: number;
  /** Resident, of the processes of its servers; null where the system does not tell. */
  readonly memoryBytes: number | null;
  /** Of its machine, or that its container may use. */
  readonly machineBytes: number;
  /** Servers that wait for their turn to be started. */
  readonly waitingStarts: number;
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
  /** Of this node's instances, those that another node has asked for of late: a few. */
  readonly wanted: readonly Want[];
}

/** A node that holds its lease has calls for an instance, and cannot reach the node that runs it. */
export interface Want {
  readonly instance: string;
  /** The name of the node that wants it. */
  readonly node: string;
  /** For how long, again and again. */
  readonly forMs: number;
}

export interface ClaimOptions {
  /** Also from a node whose lease has run out, and what an heir has not taken. */
  readonly takesLapsed: boolean;
  /** The node that has it first has it for good, until its files are given to another one. */
  readonly keepsFiles: boolean;
}

export type Claimed =
  | { readonly kind: "mine"; readonly epoch: number; readonly taken?: Taken }
  | ({ readonly kind: "taken" } & Whereabouts);

export interface Whereabouts {
  /** The node that has it, or that alone may have it next; undefined where there is none. */
  readonly node: NodeRow | undefined;
  /** The name of the node that has its files; undefined where it keeps none there, or no node has run it. */
  readonly home: string | undefined;
}

/** How an instance came from another node. */
export interface Taken {
  /** Undefined where that node handed it over. */
  readonly from: string | undefined;
  readonly why: "handed over" | "dead" | "lapsed";
}

/**
 * What gateways of one database share that belongs to people, and that a gateway without one keeps in files.
 * `login`: a login at a server, encrypted. `instance-token`: the hash of a token. `browser`: a browser that is logged
 * in with a token. `login-begun`: a login whose browser is on its way. `login-answer`: what that browser brought back
 * to another gateway, encrypted, and then what became of it.
 */
export const sharedKinds = ["login", "instance-token", "browser", "login-begun", "login-answer"] as const;
export type SharedKind = (typeof sharedKinds)[number];

export const sharedTables = {
  shared_item: table({
    kind: word<SharedKind>(),
    /** Unique in its kind. */
    id: text,
    /** The slug of the team of the person to whom it belongs; null where there is none. */
    team: textOrNull,
    about: text,
    expiresAtMs: integer,
  }),
  /** How often something was tried of late. */
  attempt: table({
    /** Of what was tried, by whom: a hash, because there may be a name or an address in it. */
    key: text,
    count: integer,
    expiresAtMs: integer,
  }),
};

export type SharedItem = RowOf<(typeof sharedTables)["shared_item"]>;
export type SharedKey = Pick<SharedItem, "kind" | "id">;

/** One change: rows that are new or replace those with their key, and keys of those that are removed. */
export interface SharedWrites {
  readonly items?: readonly SharedItem[];
  /** Written only where there is none with its key. */
  readonly newItems?: readonly SharedItem[];
  /** Written only where there is one: another gateway may have removed it meanwhile. */
  readonly oldItems?: readonly SharedItem[];
  readonly gone?: readonly SharedKey[];
}

/** What the gateways of a database share. Everything rejects with STORE_UNAVAILABLE while that is away. */
export interface SharedItems {
  /** Those of these ids, or all: at least as new as what was told here before. */
  read(kind: SharedKind, ids?: readonly string[]): Promise<readonly SharedItem[]>;
  /** Resolves when it is on the disk; others are told within a second. */
  write(writes: SharedWrites): Promise<void>;
  /** Runs `work` while no one else runs anything under this name, here or at another gateway. */
  exclusively<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /**
   * Calls `listener` with the ids that another gateway changed, and with undefined where everything has to be read
   * again. Returns the function that unsubscribes.
   */
  onChange(kind: SharedKind, listener: (ids: readonly string[] | undefined) => void): () => void;
}

export interface SharedQuestion {
  readonly kind: SharedKind;
  /** Null: all. */
  readonly ids: readonly string[] | null;
}

export interface AttemptsAsk {
  readonly tries: readonly { readonly key: string; readonly most: number }[];
  /** A window begins with the first try in it. */
  readonly windowMs: number;
  readonly nowMs: number;
}

/** What was tried too often. */
export interface FullAttempt {
  readonly key: string;
  /** When it may be tried again. */
  readonly untilMs: number;
}

export const sharedQuestions = {
  shared: question<SharedQuestion, { readonly items: readonly SharedItem[]; readonly seq?: number }>(),
  changeShared: question<SharedWrites, { readonly change?: number }>(),
  /** Whether it was free. It is held until it is given back, or the connection to the database ends. */
  lockShared: question<string, boolean>(),
  unlockShared: question<string, void>(),
};

export const attemptQuestions = {
  /** Counts a try under each key. Where one of them was tried too often, none is counted; the answer is that one. */
  takeAttempts: question<AttemptsAsk, FullAttempt | undefined>(),
  forgetAttempts: question<readonly string[], void>(),
};
