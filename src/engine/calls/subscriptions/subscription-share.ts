import type { Instance } from "../../../servers/instance/instance.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { Connection } from "../../../servers/upstream/connection.ts";
import { createResourceListener, refused, subscribeTimeoutMs, type ResourceListener } from "./resource-listener.ts";

/** One watched resource of one instance, shared by any number of clients. */
export interface SubscriptionShare {
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
export function createShareOpener(
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
