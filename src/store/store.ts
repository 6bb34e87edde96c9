import type { ClusterStore } from "./shared.ts";
import type { ApprovalStore } from "./approval-rows.ts";
import type { KeySource } from "../config/key-source.ts";
import type { DefinitionStore } from "../catalog/definitions/definition-book.ts";
import type { UseMemoryStore } from "../catalog/discovery/memory-of-use.ts";
import type { VectorStore } from "../catalog/discovery/meaning/embeddings.ts";
import type { PinStore } from "../catalog/discovery/pins.ts";
import type { KeptSearchStore } from "../catalog/discovery/kept-searches.ts";
import type { PhraseStore } from "../catalog/discovery/phrases/written-phrases.ts";
import type { InstanceId, PrincipalId } from "../kernel/ids.ts";
import type { Log } from "../kernel/runtime/log.ts";
import type { CatalogKeeper } from "../servers/instance/instance-deps.ts";
import type { CredentialStore } from "../servers/logins/credential.ts";
import type { Clock } from "../kernel/runtime/clock.ts";
import type { RecordStore, RecordStoreOptions } from "./record-store.ts";
import type { SharedItems } from "./shared.ts";
import type { Claim, GatewayHolder, Served } from "./gateway-holder.ts";

/**
 * Everything that outlives a gateway, as one object of small interfaces. What rooms below the store use is declared
 * there, by its users; the rest is declared here. A backend is a folder beside this file;
 * `test/store/contract.test.ts` tests that it fulfils the interfaces.
 */
export interface Store {
  readonly lock: GatewayLocks;
  /**
   * Logins at servers, shared by all gateways of the data directory, or of the database. Loads the code that it needs,
   * so call it once, when logins are needed.
   */
  secrets(shared?: SharedPlace<string>): Promise<SecretStore>;
  /**
   * What one gateway keeps for itself, in a folder that `lock` assigned. Failures of work that is not awaited are
   * logged.
   */
  at(place: string, log: Log): GatewayStore;
}

/** What belongs to one gateway. No two gateways write to the same folder. */
export interface GatewayStore {
  readonly catalogs: CatalogKeeper;
  readonly tokens: InstanceTokenStore;
  /**
   * Those of all gateways of a database, with the ones that `tokens` has, which are moved there. Loads the code for it.
   * Rejects with STORE_UNAVAILABLE while it cannot be read.
   */
  sharedTokens(shared: SharedPlace<PrincipalId>): Promise<SharedListStore<InstanceTokenRecord>>;
  /**
   * Logins of browsers at the dashboard; of those with tokens, of all gateways of a database: while that cannot be
   * read there are none of them. Loads the code for it; opened once.
   */
  browserSessions(shared?: () => Promise<SharedPlace<string | null>>): Promise<BrowserSessionStore>;
  /** Searches that people keep as tests. Loads the code for it; opened once. */
  keptSearches(): Promise<KeptSearchStore>;
  /** Calls that wait for a person's yes, and what was said yes to. Loads the code for it; opened once. */
  approvals(): Promise<ApprovalStore>;
  /** What definitions of tools were. */
  readonly definitions: DefinitionStore;
  /** Tools that people pinned who are not in the database. */
  readonly pins: PinStore;
  readonly namespaceUsage: NamespaceUsageStore;
  readonly tokenCounts: TokenCountStore;
  /** Stores texts for minutes. Removes those that an earlier process left. */
  spill(): SpillStore;
  /**
   * What happened: calls, usage, servers' logs, events, and the audit. Loads the code for it and starts its thread;
   * opened once, by the caller that closes it. Rejects with CONFIG_INVALID when the key of the data directory cannot be
   * used.
   */
  records(options: RecordsOptions): Promise<RecordStore>;
  /**
   * What nodes of a cluster know of each other, in the database of that URL, and the key by which they know each other.
   * Loads the code for it; opened once, by the caller that closes it.
   */
  cluster(options: { readonly url: string; readonly statementMs: number }): Promise<OpenedCluster>;
  /**
   * The key of the gateway, and the one before it where it is named: what gateways of the same key share
   * is sealed with keys made from it. Rejects with CONFIG_INVALID where it cannot be read.
   */
  secrets(): Promise<readonly Uint8Array[]>;
  /**
   * The keys that protect secrets of teams. Rejects with CONFIG_INVALID when they cannot be read, or when there are
   * none and `mayCreate` is false: something was encrypted with one.
   */
  keyRing(mayCreate: boolean): Promise<KeyRing>;
  /** What searches learned from use. Loads the code that it needs. Call it once; the caller disposes of the result. */
  learned(): Promise<UseMemoryStore & AsyncDisposable>;
  /** Phrases that a model wrote for tools. Loads the code for it; opened once, by the caller that closes it. */
  phrases(): Promise<PhraseStore & AsyncDisposable>;
  /**
   * The vectors that `model` made; those of another model are discarded. Loads the code that it needs. Call it once;
   * the caller disposes of the result.
   */
  vectors(model: string): Promise<VectorStore & AsyncDisposable>;
}

export interface OpenedCluster {
  readonly store: ClusterStore;
  /** The same for all gateways of one database, at least 32 bytes. */
  readonly key: Uint8Array;
}

/** Opens a store of one kind. */
export interface StoreBackend {
  open(options: StoreOptions): Store;
}

/** What a backend is opened with. */
export interface StoreOptions {
  /** An absolute path. The caller creates the folder, with mode 0700. */
  readonly dataDir: string;
  /** What logins are encrypted with. Where it names none, a key is made at the first login and stored beside them. */
  readonly vaultKey: KeySource;
  /** The start time of a running process; undefined when there is no such process. */
  readonly startTimeOf: (pid: number) => string | undefined;
}

/** Where gateways of one database keep together what each would keep in files. */
export interface SharedPlace<Whose> {
  readonly items: SharedItems;
  /** The slug of the team of somebody, or of the instance of somebody; null where there is none. */
  readonly teamOf: (whose: Whose) => string | null;
}

/** What differs in a list: said by those who change it, because others change it, too. */
export interface ListChange<Kept> {
  readonly added?: readonly Kept[];
  /** Another gateway may have removed them meanwhile; then they stay removed. */
  readonly changed?: readonly Kept[];
  readonly removed?: readonly Kept[];
}

/** A list of a gateway that others share. */
export interface SharedListStore<Kept> {
  /** As far as it is known here now. */
  read(): readonly Kept[];
  /** Resolves when it is stored; rejects when it cannot be. */
  write(change: ListChange<Kept>): Promise<void>;
  /** Looks whether another gateway has just made it: then `read` has it. Rejects with STORE_UNAVAILABLE. */
  look(id: string): Promise<void>;
  /** Calls `listener` when `read` has what another gateway changed. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** Logins at servers, with notice of changes. */
export interface SecretStore extends CredentialStore {
  /**
   * Calls `onChange` soon after a login or logout in any process. Returns the function that stops watching. Where
   * files cannot be watched it never calls; compare `revision` as well.
   */
  watch(onChange: () => void): () => void;
  /** The file that a write or removal changes, to be watched. */
  fileOf(name: string): string;
}

/** The gateways that run on a data directory, and the folder of each. */
export interface GatewayLocks {
  /**
   * Takes a folder for a new gateway, or tells which gateway already serves the same. When several ask at once, only
   * one gets a folder. Rejects when nothing can be written.
   */
  claim(serves: Served, version: string): Promise<Claim>;
  /** The gateways that run now, including those of earlier versions. */
  list(): Promise<readonly GatewayHolder[]>;
  /**
   * The folder for a gateway of this configuration, unless another gateway holds it. Does not depend on the values of
   * variables.
   */
  placeOf(serves: Served): string;
  /** Makes that folder ready for use without locking it. */
  prepare(serves: Served): Promise<void>;
}

/** Browsers that are logged in at the dashboard. */
export interface BrowserSessionStore {
  /** What can be read; nothing where the file is damaged. */
  read(): readonly BrowserSessionRecord[];
  /**
   * Replaces all of them, or those that gateways share by what of them changed. Rejects when they cannot be written.
   */
  write(sessions: readonly BrowserSessionRecord[], change: ListChange<BrowserSessionRecord>): Promise<void>;
  /** Where gateways share them: calls `listener` when `read` has what another one changed. */
  onChange?(listener: () => void): () => void;
}

export interface BrowserSessionRecord {
  readonly id: string;
  /** SHA-256 of what the browser sends, in hex. */
  readonly cookieHash: string;
  readonly keyHash: string;
  /** Of the token that it logged in with; null for the owner of the data directory. */
  readonly tokenHash: string | null;
  /** Whose token it is; null for the owner of the data directory, and where an earlier version wrote the session. */
  readonly person: string | null;
  readonly browser: string;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}

/** Hashes of the tokens that give access to single instances. */
export interface InstanceTokenStore {
  /**
   * Called once, when the first token is checked or made. If the records cannot be read, that is logged and no token
   * is valid.
   */
  read(): readonly InstanceTokenRecord[];
  /** Resolves when the records are stored; rejects when they cannot be. */
  write(records: readonly InstanceTokenRecord[]): Promise<void>;
}

/** The stored record of an instance token. The token itself is not stored. */
export interface InstanceTokenRecord {
  /** SHA-256 of the token, 64 hex digits. */
  readonly hash: string;
  readonly instance: InstanceId;
  /** Who made the token. Its holder acts as that principal, on that instance only. */
  readonly principal: PrincipalId;
  readonly createdAtMs: number;
  /**
   * The first digits of the hashes of all tokens that the principal had at the time. When one of those is revoked,
   * this token is no longer valid.
   */
  readonly madeUnder: readonly string[];
}

/** How records are kept. */
export interface RecordsOptions extends Pick<RecordStoreOptions, "redact"> {
  readonly clock: Clock;
  readonly keepMs: number;
  readonly keepCalls: number;
  /** The URL of a PostgreSQL; undefined for files of the gateway's own. */
  readonly database: string | undefined;
  /** Of entries of the audit; infinite to keep all. */
  readonly keepAuditMs: number;
}

/** Stores texts that do not fit into memory. Disposing removes all of them. */
export interface SpillStore extends AsyncDisposable {
  /** `id` may have letters, digits, `-` and `_`. Rejects when the text cannot be written. */
  write(id: string, text: Buffer): Promise<void>;
  /** Resolves to undefined when the text is missing or cannot be read. */
  read(id: string): Promise<Buffer | undefined>;
  /** Removes a text, if it exists. Returns at once. */
  remove(id: string): void;
}

/** How often namespaces are used. Disposing waits for pending writes. */
export interface NamespaceUsageStore extends AsyncDisposable {
  /** Undefined when nothing was stored, or it cannot be read. */
  load(): Promise<readonly KeptUse[] | undefined>;
  /** Returns at once. When values arrive faster than they are written, only the newest is. */
  save(uses: readonly KeptUse[]): void;
}

/** How many tokens texts have, by a hash of the text. Disposing waits for pending writes. */
export interface TokenCountStore extends AsyncDisposable {
  /** Undefined when nothing was stored, or it cannot be read. */
  load(): Promise<readonly (readonly [hash: string, tokens: number])[] | undefined>;
  /**
   * Replaces all that is stored. Returns at once. When values arrive faster than they are written, only the newest
   * is.
   */
  save(counts: readonly (readonly [hash: string, tokens: number])[]): void;
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

/** What data keys of teams are wrapped with. It never leaves the store. */
export interface WrappingKey {
  /** Tells keys apart without telling anything of them: it is kept beside the texts that the key wrapped. */
  readonly id: string;
  /** `bound` is what the data key belongs to; it opens for nothing else. */
  wrap(dataKey: Buffer, bound: string): string;
  /** Undefined when it was wrapped with another key, for something else, or was changed. */
  unwrap(wrapped: string, bound: string): Buffer | undefined;
}

/** The wrapping keys of one gateway. */
export interface KeyRing {
  /** Wraps whatever is new: while a rotation goes on, the key that is rotated to. */
  readonly current: WrappingKey;
  /** Whether an earlier rotation was not finished: everything still has to be wrapped with `next()`, then `adopt()`. */
  readonly isRotating: boolean;
  find(id: string): WrappingKey | undefined;
  /**
   * The key to rotate to: it is on the disk when this resolves. A key that was given from outside is not ours to
   * change; then this is the current one, and the one before it was named as the previous one.
   */
  next(): Promise<WrappingKey>;
  /** Nothing is wrapped with the old key any more: it is removed. */
  adopt(): Promise<void>;
}
