import { describeCollision, resolveNamespaces } from "../../catalog/model/names/namespace-names.ts";
import type { Config } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { createNamespaceLoads, type NamespaceLoads } from "../../engine/namespaces/namespace-loads.ts";
import type { Validators } from "../../engine/validation/validators.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { NamespaceUsageStore } from "../../store/store.ts";
import type { Directory } from "../../people/directory/directory.ts";
import type { LateCluster } from "../servers/servers-wing.ts";
import type { ShownViews } from "./catalog-wing.ts";

export interface NamespacesDeps {
  readonly config: () => Config;
  readonly fleet: Fleet;
  readonly views: ShownViews;
  readonly validators: Validators;
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
  readonly store: NamespaceUsageStore;
  /** Undefined where the gateway is alone. */
  readonly cluster: Pick<LateCluster, "elsewhere"> | undefined;
  readonly people: { readonly directory: Pick<Directory, "byId"> };
}

/** Namespaces, connected to what they need. */
export interface Namespaces extends AsyncDisposable {
  readonly loads: NamespaceLoads;
  /** Warns of servers that claim the same namespace, once for each configuration. */
  warnOfCollisions(config: Config): void;
}

/** Builds the loading of namespaces, with their usage counts from the store. */
export function createNamespaces(deps: NamespacesDeps): Namespaces {
  const { fleet, events, clock, log, cluster } = deps;
  const listedAtMs = new Map<InstanceId, number>();
  const unsubscribe = events.on(["mcp.tools.discovered", "config.changed"], (event) => {
    if (event.type === "mcp.tools.discovered") listedAtMs.set(event.instance, clock.monotonic());
    else for (const id of [...listedAtMs.keys()]) if (fleet.get(id) === undefined) listedAtMs.delete(id);
  });

  async function refresh(id: InstanceId, maxAgeMs: number, signal: AbortSignal): Promise<void> {
    const instance = fleet.get(id);
    if (instance === undefined) throw new GatewayError("SERVER_UNKNOWN", "this server is no longer configured");
    const isFresh = (): boolean => clock.monotonic() - (listedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) <= maxAgeMs;
    if (isFresh()) return;
    // When nothing is known of a server, its start lists its tools anyway. Asking for them here would list them
    // twice.
    await instance.acquire(signal);
    await instance.settled(signal);
    if (!isFresh()) await instance.refresh(signal);
  }

  const loads = createNamespaceLoads({
    settings: () => deps.config().settings.namespaces,
    viewOf: deps.views.viewOf,
    refresh,
    prepare(tools) {
      for (const { hash, definition } of tools) {
        deps.validators.verdict(hash, definition.inputSchema);
        if (definition.outputSchema !== undefined) deps.validators.verdict(`${hash}.output`, definition.outputSchema);
      }
    },
    release(tools) {
      for (const tool of tools) {
        deps.validators.forget(tool.hash);
        deps.validators.forget(`${tool.hash}.output`);
      }
    },
    store: deps.store,
    events,
    log,
    clock,
    announce:
      cluster &&
      (async (principal, instance) =>
        void (await cluster.elsewhere.others({ kind: "load", about: { principal, instance } }))),
  });
  cluster?.elsewhere.answer("load", async ({ about }) => {
    const principal = deps.people.directory.byId(about["principal"] as PrincipalId);
    if (principal !== undefined) await loads.follow(principal, about["instance"] as InstanceId);
    return { about: {} };
  });

  deps.views.showLoaded(loads.of);

  return {
    loads,
    warnOfCollisions(config) {
      for (const collision of resolveNamespaces(config.servers).collisions)
        log.warn({ component: "namespaces", operation: "collision" }, describeCollision(collision));
    },
    async [Symbol.asyncDispose]() {
      unsubscribe();
      await loads[Symbol.asyncDispose]();
    },
  };
}
