import type { Instance } from "../instance/instance.ts";
import { asciiJson } from "../protocol/ascii-json.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import type { InstanceId } from "../shared/ids.ts";
import { parseErrorObject } from "../upstream/request-table.ts";

/** Subscriptions to resources, shared and counted: however many clients listen, the server sees one. */
export interface Subscriptions {
  /** Resolves when the server has taken the subscription, to the function that gives up this share of it. */
  subscribe(instance: InstanceId, uri: string, signal: AbortSignal): Promise<() => void>;
  readonly size: number;
}

/** More than this many different resources are not watched at once. */
const mostSubscriptions = 10_000;
const subscribeTimeoutMs = 30_000;

interface Share {
  count: number;
  readonly ready: Promise<void>;
  readonly release: () => void;
  readonly end: () => void;
}

export function createSubscriptions(instanceOf: (id: InstanceId) => Instance | undefined): Subscriptions {
  const shares = new Map<string, Share>();

  function open(instance: Instance, uri: string): Share {
    const controller = new AbortController();
    const release = instance.hold();
    const ready = start(instance, uri, controller.signal);
    return {
      count: 0,
      ready,
      release,
      end: () => {
        release();
        controller.abort(new GatewayError("CALL_CANCELLED", "nobody listens any more"));
        const { connection } = instance;
        if (connection?.peer.era === "legacy") {
          void connection
            .request({ method: "resources/unsubscribe", params: [["uri", Buffer.from(asciiJson(uri), "latin1")]], signal: AbortSignal.timeout(subscribeTimeoutMs), timeoutMs: subscribeTimeoutMs, maxTimeoutMs: subscribeTimeoutMs })
            .catch(() => undefined);
        }
      },
    };
  }

  async function start(instance: Instance, uri: string, signal: AbortSignal): Promise<void> {
    const connection = await instance.acquire(signal);
    if (connection.peer.era === "modern") {
      // The answer to this request is its end: it stays open as long as anybody listens.
      const filter = { resourceSubscriptions: [uri] };
      void connection
        .request({ method: "subscriptions/listen", params: [["notifications", Buffer.from(asciiJson(filter), "latin1")]], signal, timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY })
        .catch(() => undefined);
      return;
    }
    const reply = await connection.request({ method: "resources/subscribe", params: [["uri", Buffer.from(asciiJson(uri), "latin1")]], signal, timeoutMs: subscribeTimeoutMs, maxTimeoutMs: subscribeTimeoutMs });
    if (reply.kind === "error") throw new GatewayError("UPSTREAM_PROTOCOL", `${instance.server.slug} refused the subscription: ${parseErrorObject(reply.error).message.slice(0, 200)}`);
  }

  return {
    async subscribe(id, uri, signal) {
      const instance = instanceOf(id);
      if (instance === undefined) throw new GatewayError("SERVER_UNKNOWN", "the server of this resource is no longer configured");
      const key = `${id}\n${uri}`;
      let share = shares.get(key);
      if (share === undefined) {
        if (shares.size >= mostSubscriptions) throw new GatewayError("RATE_LIMITED", `${shares.size} resources are watched already`);
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
