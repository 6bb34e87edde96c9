import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { createShareOpener, type SubscriptionShare } from "./subscription-share.ts";

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
