import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { leastLevel } from "../../../wire/mcp/log-level.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { Connection } from "../../../servers/upstream/connection.ts";

/**
 * The log levels that legacy clients set (2025-11-25, server/utilities/logging). A server has one level for all its
 * clients: the most verbose that any of them wants. Messages too verbose for a client are not passed on to it. A modern
 * server gets the level with each request instead.
 */
export interface LogLevels {
  /**
   * Resolves when all servers that are up have been told. `holder` represents the client; its previous level is
   * replaced.
   */
  set(holder: object, instances: readonly InstanceId[], level: string): Promise<void>;
  drop(holder: object): void;
}

const timeoutMs = 10_000;

/** `events` tell when a legacy server has come up, which then gets its level again. */
export function createLogLevels(instanceOf: (id: InstanceId) => Instance | undefined, events: EventBus): LogLevels {
  const wanted = new Map<object, { readonly level: string; readonly instances: ReadonlySet<InstanceId> }>();
  const told = new WeakMap<Connection, string>();

  events.on(["mcp.server.started", "mcp.server.respawned"], (event) => void tell(event.instance));
  events.on(["server.session_replaced"], ({ instance }) => {
    const connection = instanceOf(instance)?.connection;
    if (connection !== undefined) told.delete(connection);
    void tell(instance);
  });

  async function tell(id: InstanceId): Promise<void> {
    const connection = instanceOf(id)?.connection;
    const level = leastLevel([...wanted.values()].flatMap((one) => (one.instances.has(id) ? [one.level] : [])));
    if (connection === undefined || level === undefined || told.get(connection) === level || !takesLevels(connection))
      return;
    told.set(connection, level);
    const params = [["level", asciiJson(level)]] as const;
    // No call depends on it: a server that refuses the level keeps its own.
    await connection
      .request({
        method: "logging/setLevel",
        params,
        era: "legacy",
        signal: AbortSignal.timeout(timeoutMs),
        timeoutMs,
        maxTimeoutMs: timeoutMs,
      })
      .catch(() => undefined);
  }

  return {
    async set(holder, instances, level) {
      wanted.set(holder, { level, instances: new Set(instances) });
      await Promise.all(instances.map(tell));
    },
    drop(holder) {
      const one = wanted.get(holder);
      wanted.delete(holder);
      for (const id of one?.instances ?? []) void tell(id);
    },
  };
}

function takesLevels({ peer }: Connection): boolean {
  return peer.eras.includes("legacy") && peer.capabilities["logging"] !== undefined;
}
