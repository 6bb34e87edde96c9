import type { CurrentCatalog } from "../../catalog/model/current.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { View } from "../../catalog/model/view.ts";
import { createViews } from "../../catalog/model/views.ts";
import { createDiscovery, type Discovery } from "../../catalog/discovery/discovery.ts";
import type { Config } from "../../config/config.ts";
import type { NamespaceLoads } from "../../engine/namespaces/namespace-loads.ts";
import { mayUse } from "../../engine/policy/tool-rules.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import type { GatewayStore } from "../../store/store.ts";
import { loadDiscovery } from "./search.ts";

export interface ViewsDeps {
  readonly config: () => Config;
  readonly fleet: Fleet;
  /** Called whenever a view is made, because loading namespaces needs views itself. */
  readonly loads: () => NamespaceLoads;
}

/** What each principal sees of the catalog. */
export function createViewOf({ config, fleet, loads }: ViewsDeps): (principal: Principal) => View {
  const rulesOf = (instance: string) => fleet.get(instance as InstanceId)?.server.tools;
  return createViews(
    fleet,
    (principal, statusView, tool) => {
      const rules = rulesOf(statusView.instance);
      return rules === undefined || mayUse(principal, { rules, tool: tool.upstreamName });
    },
    { loaded: (principal) => loads().of(principal), bareNames: () => config().settings.namespaces },
  );
}

/** The definition of a tool that an instance lists, by the server's own name for it. Looks through the whole list. */
export function createDefinitionOf(
  catalog: Pick<CurrentCatalog, "get">,
  { clients }: Pick<Fleet, "clients">,
): (instance: InstanceId, upstreamName: string) => ToolDefinition | undefined {
  return (instance, upstreamName) =>
    catalog.get(clients.baseOf(instance) ?? instance)?.tools.find((tool) => tool.upstreamName === upstreamName)
      ?.definition;
}

export interface SearchesDeps {
  readonly settings: Config["settings"];
  readonly fleet: Fleet;
  readonly store: GatewayStore;
  readonly log: Log;
  readonly clock: Clock;
  readonly loadLate: LoadLate;
  /** By the team's id, which no person has; undefined for people without one. */
  readonly teamOf: (principal: PrincipalId) => string | undefined;
}

/** Searches. Their engine is loaded at the first one. */
export function createSearches(deps: SearchesDeps): Discovery {
  const { settings, fleet, loadLate, teamOf } = deps;
  // A server that all share has one instance, which is named like it. What one team shares, each person learns alone.
  const sharedWith = (principal: PrincipalId, { server }: ToolEntry): string | null | undefined =>
    fleet.get(server as string as InstanceId)?.owner === null ? (teamOf(principal) ?? null) : undefined;
  const load = async () => await loadDiscovery(settings.search, { ...deps, sharedWith });
  return createDiscovery(async () => await loadLate("the search engine", load));
}
