import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { Connection } from "../../../servers/upstream/connection.ts";
import { createResourceListener, refused, subscribeTimeoutMs, type ResourceListener } from "./resource-listener.ts";

/**
 * Subscriptions to resources, shared and counted: however many clients subscribe, the server sees one subscription.
 */
export interface Subscriptions {
  /** Resolves when the server has accepted the subscription, to a function that gives up this share of it. */
  subscribe(instance: InstanceId, uri: string, signal: AbortSignal): Promise<() => void>;
  readonly size: number;
}

/** The most resources that are watched at once. */
const mostSubscriptions = 10_000;

/** `events` tell when a server has come up again. Its subscriptions are then renewed. */
export function createSubscriptions(
  instanceOf: (id: InstanceId) => Instance | undefined,
  events: EventBus,
): Subscriptions {
  const shares = new Map<string, SubscriptionShare>();
  const open = createShareOpener(instanceOf);

  events.on(["mcp.server.started", "mcp.server.respawned"], (event) => {
    for (const share of shares.values()) if (share.id === event.instance) share.renew();
  });
  events.on(["server.session_replaced"], (event) => {
    for (const share of shares.values()) if (share.id === event.instance) share.forget();
  });

  return {
    async subscribe(id, uri, signal) {
      const instance = instanceOf(id);
      if (instance === undefined)
        throw new GatewayError("SERVER_UNKNOWN", "the server of this resource is no longer configured");
      const key = `${id}\n${uri}`;
      let share = shares.get(key);
      if (share === undefined) {
        if (shares.size >= mostSubscriptions)
          throw new GatewayError(
            "RATE_LIMITED",
            `${shares.size} resources are already subscribed to, which is the limit`,
          );
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

/** One watched resource of one instance, shared by any number of clients. */
interface SubscriptionShare {
  readonly id: InstanceId;
  count: number;
  readonly ready: Promise<void>;
  /** Subscribes on the instance's current connection, unless that was done already. */
  renew(): void;
  /** The server has forgotten the subscription, although the connection is the same. */
  forget(): void;
  end(): void;
}

/** Creates shares. Those of one modern server are watched through one stream. */
function createShareOpener(
  instanceOf: (id: InstanceId) => Instance | undefined,
): (instance: Instance, uri: string) => SubscriptionShare {
  const listeners = new WeakMap<Connection, ResourceListener>();

  return (instance, uri) => {
    const { id } = instance;
    const ended = new AbortController();
    let on: Connection | undefined;
    let held = { instance, release: instance.hold() };

    async function subscribe(current: Instance): Promise<void> {
      const connection = await current.acquire(ended.signal);
      if (connection === on) return;
      on = connection;
      await subscribeOn({ connection, server: current.server.slug, uri, listeners, signal: ended.signal });
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
        // Refused now, although it was accepted before: the client keeps its subscription and gets no updates.
        void subscribe(current).catch(() => undefined);
      },
      forget() {
        // A modern server has no sessions, so that its streams continue.
        if (on?.peer.era !== "legacy") return;
        on = undefined;
        this.renew();
      },
      end() {
        held.release();
        ended.abort(new GatewayError("CALL_CANCELLED", "there is no listener any more"));
        if (on !== undefined && on === held.instance.connection) unsubscribeOn(on, uri);
      },
    };
  };
}

interface Subscribing {
  readonly connection: Connection;
  readonly server: string;
  readonly uri: string;
  readonly listeners: WeakMap<Connection, ResourceListener>;
  readonly signal: AbortSignal;
}

/** Resolves when the server has accepted the subscription. */
async function subscribeOn({ connection, server, uri, listeners, signal }: Subscribing): Promise<void> {
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

/** Sent without waiting for the answer. */
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
