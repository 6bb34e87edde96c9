import type { View } from "../../../catalog/model/view.ts";
import type { Subscriptions } from "../../../engine/calls/subscriptions/subscriptions.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { Caller } from "../caller.ts";
import { resourceKey } from "../streams/notifier.ts";
import type { OwnInstances } from "../own-instances.ts";

export interface ResourceWatchDeps {
  readonly viewOf: (principal: Principal) => View;
  readonly subscriptions: Subscriptions;
  readonly ownInstances: OwnInstances;
}

/** A subscription to a resource of a server. */
export interface ResourceWatch {
  /** The resource, as the notifier knows it. */
  readonly key: string;
  /** Ends the subscription. */
  release(): void;
  /** Lets the client's own instance of the server go, where it has one. */
  leave(): void;
}

/**
 * Subscribes upstream to the resource that the caller's endpoint shows as `uri`. Throws RESOURCE_UNKNOWN, or what the
 * server said.
 */
export async function watchResource(
  { viewOf, subscriptions, ownInstances }: ResourceWatchDeps,
  caller: Caller,
  uri: string,
  signal: AbortSignal,
): Promise<ResourceWatch> {
  const { principal, endpoint } = caller;
  const intent = endpoint.exposure.resolve(viewOf(principal), { method: "resources/read", uri });
  if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", `there is no resource ${uri.slice(0, 200)}`);
  const { id, leave } = ownInstances.enter(intent.server.instance, caller);
  try {
    const release = await subscriptions.subscribe(id, intent.uri, signal);
    return { key: resourceKey(id, intent.uri), release, leave };
  } catch (error) {
    leave();
    throw error;
  }
}
