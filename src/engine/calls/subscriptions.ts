import type { EventBus } from "../../kernel/event-bus.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Connection } from "../../servers/upstream/connection.ts";
import { createResourceListener, refused, subscribeTimeoutMs, type ResourceListener } from "./resource-listener.ts";

/** Subscriptions to resources, shared and counted: however many clients listen, the server sees one. */
export interface Subscriptions {
  /** Resolves when the server has taken the subscription, to the function that gives up this share of it. */
  subscribe(instance: InstanceId, uri: string, signal: AbortSignal): Promise<() => void>;
  readonly size: number;
}

/** More than this many different resources are not watched at once. */
const mostSubscriptions = 10_000;

interface Share {
  readonly id: InstanceId;
  count: number;
  readonly ready: Promise<void>;
  /** Subscribes on the instance's connection of now, unless it is subscribed there already. */
  renew(): void;
  /** The server forgot it, though the connection is the same. */
  forget(): void;
  end(): void;
}

/** `events` tell when a server has come up again: what is subscribed to is then subscribed to anew. */
export function createSubscriptions(
  instanceOf: (id: InstanceId) => Instance | undefined,
  events: EventBus,
): Subscriptions {
  const shares = new Map<string, Share>();
  const listeners = new WeakMap<Connection, ResourceListener>();

  events.on(["mcp.server.started", "mcp.server.respawned"], (event) => {
    for (const share of shares.values()) if (share.id === event.instance) share.renew();
  });
  events.on(["server.session_replaced"], (event) => {
    for (const share of shares.values()) if (share.id === event.instance) share.forget();
  });

  function open(instance: Instance, uri: string): Share {
    const { id } = instance;
    const ended = new AbortController();
    let on: Connection | undefined;
    let held = { instance, release: instance.hold() };

    async function subscribe(current: Instance): Promise<void> {
      const connection = await current.acquire(ended.signal);
      if (connection === on) return;
      on = connection;
      await subscribeOn(connection, current.server.slug, uri, ended.signal);
    }

    return {
      id,
      count: 0,
      ready: subscribe(instance),
      renew() {
        const current = instanceOf(id);
        if (current === undefined || current.connection === on) return;
        if (held.instance !== current) {
          held.release();
          held = { instance: current, release: current.hold() };
        }
        // Refused now though it was taken before: the client keeps what it has, and hears nothing.
        void subscribe(current).catch(() => undefined);
      },
      forget() {
        // A modern server keeps no sessions: what it streams goes on.
        if (on?.peer.era !== "legacy") return;
        on = undefined;
        this.renew();
      },
      end() {
        held.release();
        ended.abort(new GatewayError("CALL_CANCELLED", "nobody listens any more"));
        if (on !== undefined && on === held.instance.connection) unsubscribeOn(on, uri);
      },
    };
  }

  /** Resolves when the server has taken it. */
  async function subscribeOn(connection: Connection, server: string, uri: string, signal: AbortSignal): Promise<void> {
    if (connection.peer.era === "modern") {
      let listener = listeners.get(connection);
      if (listener === undefined) listeners.set(connection, (listener = createResourceListener(connection, server)));
      await listener.watch(uri, signal);
      return;
    }
    const reply = await connection.request({
      method: "resources/subscribe",
      params: [["uri", latin1(uri)]],
      signal,
      timeoutMs: subscribeTimeoutMs,
      maxTimeoutMs: subscribeTimeoutMs,
    });
    if (reply.kind === "error") throw refused(server, reply.error);
  }

  return {
    async subscribe(id, uri, signal) {
      const instance = instanceOf(id);
      if (instance === undefined)
        throw new GatewayError("SERVER_UNKNOWN", "the server of this resource is no longer configured");
      const key = `${id}\n${uri}`;
      let share = shares.get(key);
      if (share === undefined) {
        if (shares.size >= mostSubscriptions)
          throw new GatewayError("RATE_LIMITED", `${shares.size} resources are watched already`);
        share = open(instance, uri);
        shares.set(key, share);
      }
      const joined = share;
      joined.count += 1;
      const leave = () => {
        joined.count -= 1;
        if (joined.count > 0 || shares.get(key) !== joined) return;
        shares.delete(key);
        joined.end();
      };
      try {
        await joined.ready;
        signal.throwIfAborted();
      } catch (error) {
        leave();
        throw error;
      }
      let left = false;
      return () => {
        if (!left) leave();
        left = true;
      };
    },
    get size() {
      return shares.size;
    },
  };
}

/** Nobody waits for it. */
function unsubscribeOn(connection: Connection, uri: string): void {
  if (connection.peer.era !== "legacy") return;
  const signal = AbortSignal.timeout(subscribeTimeoutMs);
  void connection
    .request({
      method: "resources/unsubscribe",
      params: [["uri", latin1(uri)]],
      signal,
      timeoutMs: subscribeTimeoutMs,
      maxTimeoutMs: subscribeTimeoutMs,
    })
    .catch(() => undefined);
}

function latin1(value: unknown): Buffer {
  return Buffer.from(asciiJson(value), "latin1");
}
