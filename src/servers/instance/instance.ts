import type { StatusView } from "../../catalog/model/view.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { GatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { InstanceStatus } from "../../kernel/status.ts";
import type { Connection } from "../upstream/connection.ts";
import type { KeptCatalog } from "./instance-deps.ts";
import type { Users } from "./users.ts";
import type { InstanceState, RemovalReason, StartReason } from "./state.ts";

/** One server as run for one principal, or shared by all: its configuration, its connection or process, its status. */
export interface Instance {
  readonly id: InstanceId;
  readonly server: ServerConfig;
  readonly owner: PrincipalId | null;
  readonly state: InstanceState;
  readonly status: InstanceStatus;
  readonly connection: Connection | undefined;
  /** Of its process, when it has one. */
  readonly pid: number | undefined;
  /** The last lines of its stderr, oldest first. */
  readonly stderr: readonly string[];
  statusView(): StatusView;
  /** Who used its processes: noted only where `server.stateful` says that it matters. */
  readonly users: Users;
  /**
   * The connection, at once when there is one; otherwise after a start that all callers share. Throws or rejects with
   * what `toRefusal` says for states in which a call is not admitted, and with the cause when the start fails.
   */
  acquire(signal: AbortSignal): Connection | Promise<Connection>;
  /** Resolves when it is no longer starting, however that ended, or when the signal aborts. */
  settled(signal: AbortSignal): Promise<void>;
  /**
   * Begins its life: with what was kept on disk of it, when that fits the configuration; a stdio server then waits
   * until it is needed.
   */
  adopt(kept: KeptCatalog | undefined): void;
  start(why: StartReason): void;
  /** Stops what runs, forgets crashes, starts again; resolves when it is up, rejects with the cause when not. */
  restart(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** Fetches its lists again; the old ones stay in force until the new ones are complete. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Takes a configuration that differs only in what does not reach the server: times, names, rules of tools. */
  reconfigure(next: ServerConfig): Promise<void>;
  /** A call found the server unreachable or wanting a login. */
  noteFailure(error: GatewayError): void;
  /** Keeps it from being stopped for idleness while something listens. Returns the release. */
  hold(): () => void;
  /** Called every few seconds: idle stop, probes, due refreshes. */
  tick(): void;
  /** Ends it for good. */
  remove(why: RemovalReason): Promise<void>;
}
