import type { ConnectionEvents, FailedStep, ReplicaChange } from "../../upstream/connection.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import { createConfinement, type Confinement } from "./confinement.ts";
import type { Life } from "../instance-state.ts";
import type { ListKind } from "./refresh.ts";

/** Turns what a server says on its own into events and log entries, and keeps the last lines of its stderr. */
export interface ServerEvents {
  readonly events: ConnectionEvents;
  /** The last lines of its stderr, oldest first. */
  readonly stderr: readonly string[];
  /** Only those lines that the process started last has written. */
  readonly sinceStart: readonly string[];
  /** What failed of the handshake of the last start, in order. */
  readonly handshake: readonly FailedStep[];
  /** Where its process is confined, or was to be. */
  readonly confinement: Confinement;
  /** Call when a process is being started: earlier lines are not its own. */
  begin(): void;
}

/** The instance that the events are about, and its own interest in two of them. */
export interface ServerEventsOptions {
  readonly life: Pick<Life, "server" | "about">;
  readonly onListChanged: (kind: ListKind) => void;
  readonly onSessionReplaced: () => void;
  readonly onRenewalsExhausted: () => void;
  readonly onReplica: (change: ReplicaChange) => void;
}

const keptStderrLines = 20;
const longestLogLine = 4_096;
/** The list that an announcement is about; resource templates have no announcement of their own. */
const listKindOf: ReadonlyMap<string, ListKind> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"],
]);

/** Emits the events of one instance's connections. */
export function createServerEvents(
  { life, onListChanged, onSessionReplaced, onRenewalsExhausted, onReplica }: ServerEventsOptions,
  deps: Pick<InstanceDeps, "events" | "log" | "clock">,
): ServerEvents {
  const { events, log } = deps;
  const confinement = createConfinement(life, deps);
  let stderr: readonly string[] = [];
  let ownLines = 0;
  let handshake: readonly FailedStep[] = [];
  const { about } = life;
  const { slug: server } = life.server;

  return {
    events: {
      onNotification(method, params, audience) {
        const listed = listKindOf.get(method);
        if (listed !== undefined) {
          onListChanged(listed);
        } else if (method === "notifications/resources/updated") {
          if (typeof params["uri"] === "string")
            events.emit({ type: "resource.updated", ...about(), uri: params["uri"] });
        } else {
          if (method === "notifications/message") {
            events.emit({
              type: "mcp.server.logs",
              ...about(),
              level: String(params["level"]),
              line: toLogLine(params["data"]),
            });
          }
          if (audience === "nobody") return;
          events.emit({ type: "server.notification", ...about(), method, params, client: audience?.client });
        }
      },
      onSessionReplaced() {
        onSessionReplaced();
        for (const kind of listKindOf.values()) onListChanged(kind);
        events.emit({ type: "server.session_replaced", ...about() });
      },
      onHandshakeStep(failed) {
        handshake = [...handshake, failed];
        log.debug({ component: "upstream", server, operation: "handshake" }, `${failed.step}: ${failed.why}`);
      },
      onRenewalsExhausted,
      onReplica(change) {
        onReplica(change);
        tellReplica(change, life, deps);
      },
      onStderr(line) {
        stderr = [...stderr.slice(1 - keptStderrLines), line];
        ownLines += 1;
        log.debug({ component: "server", server, operation: "stderr" }, line);
        events.emit({ type: "mcp.server.logs", ...about(), level: "stderr", line });
      },
      onOddity(kind, detail) {
        log.debug({ component: "upstream", server, operation: kind }, detail);
        events.emit({ type: "upstream.oddity", ...about(), kind, detail });
      },
      ...confinement.on,
    },
    get confinement() {
      return confinement.facts;
    },
    get stderr() {
      return stderr;
    },
    get sinceStart() {
      return ownLines === 0 ? [] : stderr.slice(-ownLines);
    },
    get handshake() {
      return handshake;
    },
    begin() {
      confinement.begin();
      handshake = [];
      ownLines = 0;
    },
  };
}

/** One of several processes that ends is a crash like any other; the instance is up all the same. */
function tellReplica(
  change: ReplicaChange,
  { about, server }: Pick<Life, "server" | "about">,
  { events, log }: Pick<InstanceDeps, "events" | "log">,
): void {
  const { name: replica } = change;
  const fields = { component: "instance", server: server.slug, operation: "replica" };
  switch (change.kind) {
    case "down": {
      log.warn(fields, `${server.slug}: ${replica} is down: ${change.why}`);
      if (change.crash !== undefined) events.emit({ type: "mcp.server.crashed", ...about(), ...change.crash });
      return;
    }
    case "up":
      log.info(fields, `${server.slug}: ${replica} is up`);
      if (change.isNews)
        events.emit({ type: "mcp.server.restarted", ...about(), reason: `${replica} was down, and is up again` });
      return;
    case "breaker": {
      const { state, why: reason } = change;
      log.warn(fields, `${server.slug}: the breaker of ${replica} is ${state}: it ${reason}`);
      events.emit({ type: "mcp.server.breaker", ...about(), replica, state, reason });
    }
  }
}

function toLogLine(data: unknown): string {
  return JSON.stringify(data ?? "").slice(0, longestLogLine);
}
