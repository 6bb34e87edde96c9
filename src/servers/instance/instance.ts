import type { StatusView } from "../../catalog/model/view.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { AboutInstallation } from "../../kernel/events/event.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { InstanceStatus } from "../../kernel/status-words.ts";
import type { Connection, FailedStep } from "../upstream/connection.ts";
import type { KeptCatalog } from "./instance-deps.ts";
import type { Confinement } from "./lists/confinement.ts";
import type { Oddities } from "./oddities.ts";
import type { Users } from "./users.ts";
import type { InstanceState, RemovalReason, StartReason } from "./state.ts";

/**
 * One server as it runs for one principal, for one client, or for all: its configuration, its connection or process,
 * and its status.
 */
export interface Instance {
  readonly id: InstanceId;
  readonly server: ServerConfig;
  readonly owner: PrincipalId | null;
  readonly state: InstanceState;
  readonly status: InstanceStatus;
  readonly connection: Connection | undefined;
  /** Callers that wait for it to be up. */
  readonly waiting: number;
  /** The pid of its process, if there is one. */
  readonly pid: number | undefined;
  /** What failed of its last handshake, in order. */
  readonly handshake: readonly FailedStep[];
  /** What became of its sandbox. */
  readonly confinement: Confinement;
  /** The last lines of its stderr, oldest first. */
  readonly stderr: readonly string[];
  statusView(): StatusView;
  /** The fields with which every event about it begins. */
  about(): AboutInstallation;
  /** What its server does that was mended. */
  readonly oddities: Oddities;
  /** The clients that used its processes. Recorded only where `server.stateful` says that it matters. */
  readonly users: Users;
  /**
   * Returns the connection at once when there is one, otherwise a promise for it after a start that all callers share.
   * Throws, or rejects with, the failure from `toRefusal` when the state allows no call, and rejects with the cause
   * when the start fails. `by` is the principal for whom the server is started, as events report it.
   */
  acquire(signal: AbortSignal, by?: PrincipalId): Connection | Promise<Connection>;
  /** Resolves when the instance is no longer starting, whatever came of it, or when the signal aborts. */
  settled(signal: AbortSignal): Promise<void>;
  /**
   * The first thing to call. Takes over the kept catalog if it fits the configuration; a stdio server with one is
   * then started when it is needed, any other is started now.
   */
  adopt(kept: KeptCatalog | undefined): void;
  start(why: StartReason, by?: PrincipalId): void;
  /**
   * Stops the server, forgets its crashes and starts it again. Resolves when it is up; rejects with the cause when it
   * does not come up. `by` as for `acquire`.
   */
  restart(signal: AbortSignal, by?: PrincipalId): Promise<void>;
  stop(): Promise<void>;
  /** Fetches its lists again. The old ones remain valid until the new ones are complete. */
  refresh(signal: AbortSignal): Promise<void>;
  /**
   * Applies a configuration that differs only in settings that do not reach the server: times, names, rules for
   * tools.
   */
  reconfigure(next: ServerConfig): Promise<void>;
  /** Applies what was decided about its definitions. */
  recall(): void;
  /**
   * Tells that a call found the server unreachable, or was refused for want of a login. Returns the failure as it is to
   * be told: where a page for logging in is known, with that page.
   */
  noteFailure(error: GatewayError): GatewayError;
  /** Keeps the server from being stopped as idle until the returned function is called. */
  hold(): () => void;
  /** Runs due work: idle stop, probe, list refresh. Called every few seconds. */
  tick(): void;
  /** Ends the instance for good. Resolves when its process has ended. */
  remove(why: RemovalReason): Promise<void>;
}
