import type { ViewServer } from "../../catalog/model/view.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { LoadServer } from "./namespace-loader.ts";
import { aboutNamespace, type NamespaceSet, type NamespaceSets } from "./namespace-sets.ts";

export interface NamespaceLoad {
  /** Wall clock. Undefined when all the room is taken by pinned namespaces. */
  readonly loadedAtMs: number | undefined;
  /** Why its tools may be out of date. Undefined when they are fresh. */
  readonly stale: string | undefined;
}

/** How a server's namespace is loaded. */
export interface LoadWish {
  /** Lists that are no older than this need not be fetched again. */
  readonly maxAgeMs: number;
  /** Why it is loaded. A namespace that is switched off is "unlisted": its tools are listed, but it is not kept. */
  readonly why: "asked" | "preload" | "unlisted";
}

export interface SharedLoadsDeps {
  readonly sets: Pick<NamespaceSets, "enter">;
  readonly loadServer: LoadServer;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly onLoaded: () => void;
}

/** Loads a namespace for a principal. Requests for it that come in the meantime share the load. */
export function createSharedLoads({ sets, loadServer, events, clock, onLoaded }: SharedLoadsDeps) {
  const pending = new Map<string, Promise<NamespaceLoad>>();

  async function run(set: NamespaceSet, server: ViewServer, { maxAgeMs, why }: LoadWish): Promise<NamespaceLoad> {
    try {
      const { server: current, durationMs, stale } = await loadServer(set.principal, server, maxAgeMs);
      const loadedAtMs = why === "unlisted" ? undefined : sets.enter(set, current, why, durationMs);
      onLoaded();
      return { loadedAtMs, stale };
    } catch (error) {
      set.counts.errors += 1;
      const { code } = toGatewayError(error);
      events.emit({ type: "namespace.load_failed", ...aboutNamespace(clock.now(), set.principal, server), code });
      throw error;
    }
  }

  return (set: NamespaceSet, server: ViewServer, wish: LoadWish): Promise<NamespaceLoad> => {
    const key = `${set.principal.id}\n${server.instance}`;
    const running = pending.get(key) ?? run(set, server, wish).finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  };
}
