import type { CurrentCatalog } from "../../catalog/model/current.ts";
import { createLazyNames, type LazyNames } from "../../catalog/model/names/lazy-names.ts";
import { noneLoaded } from "../../catalog/model/names/namespace-names.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { View } from "../../catalog/model/view.ts";
import { createViews } from "../../catalog/model/views.ts";
import { createDiscovery, type Discovery } from "../../catalog/discovery/discovery.ts";
import type { Config } from "../../config/config.ts";
import type { NamespaceLoads } from "../../engine/namespaces/namespace-loads.ts";
import { isOffered } from "../../engine/policy/decide.ts";
import { createProfiles, type Profiles } from "../../engine/policy/profiles.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import type { GatewayStore } from "../../store/store.ts";
import { loadDiscovery } from "./search.ts";

/** What each principal sees of the catalog. */
export interface ShownViews {
  readonly profiles: Profiles;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  /** Which namespaces are loaded for whom, which takes views to find out: none before this is called. */
  showLoaded(of: NamespaceLoads["of"]): void;
}

export function createShownViews({
  config,
  fleet,
}: {
  readonly config: () => Config;
  readonly fleet: Fleet;
}): ShownViews {
  const profiles = createProfiles({
    written: () => config().settings.profiles,
    serverOf: (instance) => fleet.get(instance)?.server,
  });
  let loadedOf: NamespaceLoads["of"] = () => noneLoaded;
  const viewOf = createViews(
    fleet,
    (principal, statusView, tool) => {
      const server = fleet.get(statusView.instance)?.server;
      return server === undefined || isOffered(tool, { server, principal, policy: config().settings.policy });
    },
    {
      loaded: (principal) => loadedOf(principal),
      bareNames: () => config().settings.namespaces,
      policy: () => config().settings.policy,
      narrowing: profiles.narrowing,
    },
  );
  return { profiles, viewOf, namesInTurns: createLazyNames(), showLoaded: (of) => void (loadedOf = of) };
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
  readonly config: () => Config;
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
  const { fleet, loadLate, teamOf } = deps;
  const { search } = deps.config().settings;
  // A server that all share has one instance, which is named like it. What one team shares, each person learns alone.
  const sharedWith = (principal: PrincipalId, { server }: ToolEntry): string | null | undefined =>
    fleet.get(server as string as InstanceId)?.owner === null ? (teamOf(principal) ?? null) : undefined;
  const load = async () => await loadDiscovery(search, { ...deps, sharedWith });
  return createDiscovery(async () => await loadLate("the search engine", load));
}
