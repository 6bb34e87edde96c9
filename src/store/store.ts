import type { UseMemoryStore } from "../catalog/discovery/memory-of-use.ts";
import type { VectorStore } from "../catalog/discovery/embeddings.ts";
import type { InstanceId, PrincipalId } from "../kernel/ids.ts";
import type { Log } from "../kernel/log.ts";
import type { CatalogKeeper } from "../servers/instance/instance-deps.ts";
import type { CredentialStore } from "../servers/logins/credential.ts";
import type { Claim, GatewayHolder } from "./gateway-holder.ts";
import type { Served } from "./served.ts";

/**
 * Everything that is kept between two lives of a gateway, as one object of small interfaces. What is used below the
 * store is declared by those who use it; the rest is declared here. A backend is a folder beside this file that
 * satisfies it, and is held to it by `test/store/contract.test.ts`.
 */
export interface Store {
  readonly lock: GatewayLocks;
  /**
   * Logins at servers, shared by all gateways of the data directory. Loads the code for it, so ask once and when it
   * is needed.
   */
  secrets(): Promise<SecretStore>;
  /**
   * What one gateway keeps for itself, in a place that `lock` gave out. Failures that nobody waits for go to the log.
   */
  at(place: string, log: Log): GatewayStore;
}

/** What belongs to one gateway. No two gateways write to the same place. */
export interface GatewayStore {
  readonly catalogs: CatalogKeeper;
  readonly tokens: InstanceTokenStore;
  readonly namespaceUsage: NamespaceUsageStore;
  /** Texts that are kept for minutes; those of an earlier process are removed. */
  spill(): SpillStore;
  /** What searches learned from use. Loads the code for it; opened once, by whoever closes it. */
  learned(): Promise<UseMemoryStore & AsyncDisposable>;
  /**
   * Vectors that `model` made; those of another model are forgotten. Loads the code for it; opened once, by whoever
   * closes it.
   */
  vectors(model: string): Promise<VectorStore & AsyncDisposable>;
}

/** How a backend is opened, and what of its code is loaded later than it. */
export interface StoreBackend {
  open(options: StoreOptions): Store;
  /** Load that code and do nothing with it: to find out whether it is there. */
  readonly late: { readonly search: () => Promise<unknown>; readonly logins: () => Promise<unknown> };
}

export interface StoreOptions {
  /** Absolute; made by the caller, with mode 0700. */
  readonly dataDir: string;
  /**
   * `TOOLYARD_KEY`: what logins are encrypted with. Without it a key is made at the first login and kept beside them.
   */
  readonly vaultKey: string | undefined;
  /** Start time of a running process, undefined when there is no such process. */
  readonly startTimeOf: (pid: number) => string | undefined;
}

/** Logins, and who wants to know of them. */
export interface SecretStore extends CredentialStore {
  /**
   * Calls back soon after somebody logged in or out, in whatever process. Returns what ends that. Where watching does
   * not work it never calls back: `revision` tells as well.
   */
  watch(onChange: () => void): () => void;
}

/** Which gateways run on a data directory, and which of them has which place. */
export interface GatewayLocks {
  /**
   * Takes a place for a new gateway, or tells which one serves the same already. Of any number that ask at once one
   * gets it. Rejects when nothing can be written.
   */
  claim(serves: Served, version: string): Promise<Claim>;
  /** Gateways that run now, also those of an earlier version. */
  list(): Promise<readonly GatewayHolder[]>;
  /**
   * The folder of a gateway of this configuration, which it has unless another one holds it. Stays the same when
   * variables change.
   */
  placeOf(serves: Served): string;
  /** Makes that folder ready for use and leaves it unclaimed. */
  prepare(serves: Served): Promise<void>;
}

/** Hashes of the tokens for single instances. */
export interface InstanceTokenStore {
  /** Read once, when the first token is asked for. What cannot be read is logged, and then no token is valid. */
  read(): readonly InstanceTokenRecord[];
  /** Resolves when the records are safely kept; rejects when they cannot be. */
  write(records: readonly InstanceTokenRecord[]): Promise<void>;
}

/** What is kept of an instance token. The token itself is nowhere. */
export interface InstanceTokenRecord {
  /** SHA-256 of the token, 64 hex digits. */
  readonly hash: string;
  readonly instance: InstanceId;
  /** Who made it: whoever holds the token acts as that principal, on that instance only. */
  readonly principal: PrincipalId;
  readonly createdAtMs: number;
  /** Beginnings of the hashes of the tokens that the principal had then: it falls with any of them. */
  readonly madeUnder: readonly string[];
}

/** Where texts go that do not fit into memory. Disposing removes all of them. */
export interface SpillStore extends AsyncDisposable {
  /** `id`: letters, digits, `-` and `_`. Rejects when it cannot be written. */
  write(id: string, text: string): Promise<void>;
  /** Undefined when it cannot be read. */
  read(id: string): Promise<string | undefined>;
  /** Returns at once; it may not be there. */
  remove(id: string): void;
}

/** How often namespaces are used. Disposing waits for what is still to be written. */
export interface NamespaceUsageStore extends AsyncDisposable {
  /** Undefined when nothing was kept, or it cannot be read. */
  load(): Promise<readonly KeptUse[] | undefined>;
  /** Returns at once; the newest value wins. */
  save(uses: readonly KeptUse[]): void;
}

/** How often one principal used one namespace and its tools. */
export interface KeptUse {
  readonly principal: PrincipalId;
  readonly instance: InstanceId;
  readonly loads: number;
  readonly calls: number;
  readonly lastUsedAtMs: number;
  readonly tools: Readonly<Record<string, number>>;
}
