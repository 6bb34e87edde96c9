import type { InstanceSettings, Limits, ServerConfig } from "../../config/config.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import type { LoginOf } from "./starts/login-notice.ts";
import type { DefinitionBook } from "../../catalog/definitions/definition-book.ts";
import type { RawLists } from "../../catalog/model/instance-catalog.ts";
import type { InstanceCatalog } from "../../catalog/model/snapshot.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Connection, ConnectionEvents, Handshake, RootsSource } from "../upstream/connection.ts";
import type { RenewalBudget } from "../upstream/messages/renewal-budget.ts";
import type { StartTurns } from "./starts/start-turns.ts";

/** Opens a connection to a server over any transport. `app` makes it from the connectors of `upstream/`. */
export type OpenConnection = (
  server: ServerConfig,
  instance: InstanceId,
  options: OpenOptions,
  signal: AbortSignal,
) => Promise<Opened>;

/** Whether its connection is made of several, or has a breaker: all others pay nothing for that. */
export function isBalanced({ replicas, breaker, transport }: ServerConfig): boolean {
  return breaker || replicas > 1 || (!hasProcess(transport) && (transport.urls?.length ?? 0) > 1);
}

/** A connection, with the pid where the server is a process. */
export type Opened = Connection & { readonly pid?: number };

/** The circumstances in which a connection is opened. */
export interface OpenOptions {
  readonly knownEras: readonly Era[] | undefined;
  readonly knownHandshake?: Handshake | undefined;
  readonly renewals?: RenewalBudget | undefined;
  readonly events: ConnectionEvents;
  /** Undefined: the server gets no roots. */
  readonly roots?: RootsSource | undefined;
  /** Called whenever a starting process shows signs of work. */
  readonly onWork: () => void;
  /**
   * Called when another process or address of a server that has several is up, before it takes calls: its lists are
   * compared with those that are known. Never rejects.
   */
  readonly onReopened?: ((opened: Opened, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The catalog of one instance as it is kept on disk. It is valid only for a configuration with the same hash. */
export interface KeptCatalog {
  readonly hash: string;
  readonly savedAtMs: number;
  readonly lists: RawLists;
}

/**
 * Keeps catalogs on disk; implemented by `store/`. Its methods do not reject: a catalog that cannot be read counts as
 * absent, and failed writes are reported by the store.
 */
export interface CatalogKeeper {
  load(instance: InstanceId): Promise<KeptCatalog | undefined>;
  save(instance: InstanceId, kept: KeptCatalog): Promise<void>;
  remove(instance: InstanceId): Promise<void>;
}

/** Which of a server's tools may be used, by what their definitions were; `app` gives the book of them. */
export type DefinitionReview = Pick<DefinitionBook, "open" | "review" | "recall" | "mayHold">;

/** Everything that an instance needs from other parts of the program. */
export interface InstanceDeps {
  readonly open: OpenConnection;
  readonly keeper: CatalogKeeper;
  readonly definitions: DefinitionReview;
  readonly catalog: {
    get(instance: InstanceId): InstanceCatalog | undefined;
    put(catalog: InstanceCatalog): void;
    remove(instance: InstanceId): void;
  };
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
  readonly starts: StartTurns;
  /** Called whenever a setting is needed, because the configuration may change. */
  readonly settings: () => InstanceSettings;
  readonly limits: () => Limits;
  /** Absent where logins are not possible. */
  readonly loginOf?: LoginOf;
  /** The page where somebody logs in for an instance; absent where `toolyard login` is the way. */
  readonly loginPage?: ((instance: InstanceId) => string) | undefined;
  /** The instance whose lists this one uses; then it fetches none itself. */
  readonly lender?: { refresh(signal: AbortSignal): Promise<void> } | undefined;
  /** Called after every change of state, so that views are made again. */
  readonly onChange: () => void;
}
