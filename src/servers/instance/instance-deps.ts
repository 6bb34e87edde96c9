import type { InstanceSettings, Limits, ServerConfig } from "../../config/config.ts";
import type { LoginOf } from "./login-notice.ts";
import type { RawLists } from "../../catalog/model/instance-catalog.ts";
import type { InstanceCatalog } from "../../catalog/model/snapshot.ts";
import type { EventBus } from "../../kernel/event-bus.ts";
import type { Log } from "../../kernel/log.ts";
import type { Era } from "../../kernel/call-context.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Connection, ConnectionEvents, RootsSource } from "../upstream/connection.ts";
import type { StartTurns } from "./start-turns.ts";

/** Opens a connection to a server, whatever its transport. Made by `app` from the connectors of `upstream/`. */
export type OpenConnection = (
  server: ServerConfig,
  instance: InstanceId,
  options: OpenOptions,
  signal: AbortSignal,
) => Promise<Opened>;

/** `pid` where there is a process. */
export type Opened = Connection & { readonly pid?: number };

export interface OpenOptions {
  readonly knownEras: readonly Era[] | undefined;
  readonly events: ConnectionEvents;
  /** Undefined: the server is told of no roots. */
  readonly roots?: RootsSource | undefined;
  /** Called whenever a process that is starting is seen to work. */
  readonly onWork: () => void;
}

/** What is kept on disk of one instance, one file each. Valid only for the same configuration hash. */
export interface KeptCatalog {
  readonly hash: string;
  readonly savedAtMs: number;
  readonly lists: RawLists;
}

/**
 * Satisfied by `store/`. Neither rejects: what cannot be read is not there, what cannot be written is reported by the
 * store.
 */
export interface CatalogKeeper {
  load(instance: InstanceId): Promise<KeptCatalog | undefined>;
  save(instance: InstanceId, kept: KeptCatalog): Promise<void>;
  remove(instance: InstanceId): Promise<void>;
}

/** Everything that an instance needs from outside. */
export interface InstanceDeps {
  readonly open: OpenConnection;
  readonly keeper: CatalogKeeper;
  readonly catalog: {
    get(instance: InstanceId): InstanceCatalog | undefined;
    put(part: InstanceCatalog): void;
    remove(instance: InstanceId): void;
  };
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
  readonly starts: StartTurns;
  /** Asked each time: a changed file changes them. */
  readonly settings: () => InstanceSettings;
  readonly limits: () => Limits;
  /** Absent where nobody can log in. */
  readonly loginOf?: LoginOf;
  /** The instance whose lists stand for this one's: this one fetches none of its own. */
  readonly lender?: { refresh(signal: AbortSignal): Promise<void> } | undefined;
  /** Called after every change of state, so that views are built anew. */
  readonly onChange: () => void;
}
