import type { ViewServer } from "../../catalog/model/view.ts";
import type { NamespaceSettings } from "../../config/config.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { NamespaceUse } from "./namespace-usage.ts";

/** How many of the most used namespaces are loaded again after a start. More would only fill memory. */
const mostRemembered = 5;

/** Whether it is always kept loaded: by configuration, or because of its high priority. */
export function isPinned(server: ViewServer, settings: NamespaceSettings): boolean {
  return server.priority === "high" || settings.preload.some((name) => isCalled(server, name));
}

/**
 * Chooses the namespace to evict when there is no room: the least used one and, among equals, the one whose last use
 * is longest ago. Undefined when all are pinned.
 */
export function chooseVictim(
  loaded: ReadonlyMap<InstanceId, { readonly server: ViewServer; readonly lastUseMs: number }>,
  settings: NamespaceSettings,
  useOf: (instance: InstanceId) => NamespaceUse | undefined,
): InstanceId | undefined {
  const candidates = [...loaded].filter(([, entry]) => !isPinned(entry.server, settings));
  const [first] = candidates.sort(
    ([leftId, left], [rightId, right]) =>
      usesOf(useOf(leftId)) - usesOf(useOf(rightId)) || left.lastUseMs - right.lastUseMs,
  );
  return first?.[0];
}

/**
 * The namespaces to load when a principal is first seen: the pinned ones, and those that were loaded most often
 * before and still exist.
 */
export function toPreload(
  servers: readonly ViewServer[],
  settings: NamespaceSettings,
  uses: ReadonlyMap<InstanceId, NamespaceUse>,
): { readonly kept: readonly ViewServer[]; readonly used: readonly ViewServer[]; readonly unknown: readonly string[] } {
  const usable = servers.filter((server) => server.status !== "disabled");
  const kept = usable.filter((server) => isPinned(server, settings)).slice(0, settings.maxLoaded);
  const room = Math.min(mostRemembered, settings.maxLoaded - kept.length);
  const used = usable
    .filter(
      (server) =>
        !kept.includes(server) &&
        server.catalog !== undefined &&
        server.shown &&
        (uses.get(server.instance)?.loads ?? 0) > 0,
    )
    .sort((left, right) => usesOf(uses.get(right.instance)) - usesOf(uses.get(left.instance)))
    .slice(0, room);
  return { kept, used, unknown: settings.preload.filter((name) => !servers.some((server) => isCalled(server, name))) };
}

function isCalled(server: ViewServer, name: string): boolean {
  return server.namespace === name || server.slug === name || server.title === name;
}

function usesOf(use: NamespaceUse | undefined): number {
  return use === undefined ? 0 : use.loads + use.calls;
}
