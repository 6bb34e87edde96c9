import { settingNow } from "../../kernel/text/number-text.ts";
import { noneLoaded, type LoadedNamespaces } from "../../catalog/model/names/namespace-names.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ViewServer } from "../../catalog/model/view.ts";
import type { NamespaceSettings } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { NamespaceUse } from "./namespace-usage.ts";

/** The namespaces that are loaded for one principal. */
export interface NamespaceSet {
  /** The principal as last seen. After a change of the configuration, the same person may have another object. */
  principal: Principal;
  readonly loaded: Map<InstanceId, LoadedNamespace>;
  /** What views show. A new object after every change. */
  snapshot: LoadedNamespaces;
  readonly counts: {
    loads: number;
    hits: number;
    evictions: number;
    errors: number;
    loadTimeMs: number;
    migrations: number;
  };
}

export interface LoadedNamespace {
  readonly server: ViewServer;
  /** Wall clock. */
  readonly loadedAtMs: number;
  readonly tools: readonly ToolEntry[];
  /** Monotonic. */
  lastUseMs: number;
}

export type EvictionReason = "idle" | "room" | "gone";

/** The sets of all principals, with the rules of entry and eviction. */
export interface NamespaceSets {
  /** The principal's set. Created when there is none, in which case `onNew` is called. */
  of(principal: Principal): NamespaceSet;
  find(principal: PrincipalId): NamespaceSet | undefined;
  all(): Iterable<NamespaceSet>;
  touch(set: NamespaceSet, entry: LoadedNamespace): void;
  /**
   * Returns since when the namespace is loaded. Undefined when there is no room because all loaded namespaces are
   * pinned.
   */
  enter(set: NamespaceSet, server: ViewServer, why: "asked" | "preload", durationMs: number): number | undefined;
  evict(set: NamespaceSet, instance: InstanceId, why: EvictionReason): void;
}

export interface NamespaceSetsDeps {
  readonly settings: () => NamespaceSettings;
  readonly useOf: (principal: PrincipalId, instance: InstanceId) => NamespaceUse | undefined;
  /** Frees the tools' validators. */
  readonly release: (tools: readonly ToolEntry[]) => void;
  readonly onNew: (principal: Principal) => void;
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
}

/** Principals whose sets are kept. A principal without loaded namespaces is dropped first. */
const mostPrincipals = 1_000;

/** Begins with nothing loaded for anybody. */
export function createNamespaceSets(deps: NamespaceSetsDeps): NamespaceSets {
  const { clock, events } = deps;
  const sets = new Map<PrincipalId, NamespaceSet>();

  function open(principal: Principal): NamespaceSet {
    const made = emptySet(principal);
    sets.set(principal.id, made);
    if (sets.size > mostPrincipals) forgetOne();
    deps.onNew(principal);
    return made;
  }

  function forgetOne(): void {
    const gone = leastMissed([...sets.values()].slice(0, -1));
    if (gone === undefined) return;
    for (const instance of [...gone.loaded.keys()]) evict(gone, instance, "gone");
    sets.delete(gone.principal.id);
  }

  function enter(
    set: NamespaceSet,
    server: ViewServer,
    why: "asked" | "preload",
    durationMs: number,
  ): number | undefined {
    const known = set.loaded.get(server.instance);
    if (known !== undefined && known.tools === server.tools) return known.loadedAtMs;
    if (known !== undefined) freeTools(set, known, server.tools);
    else if (!makeRoom(set, server, deps, (victim) => evict(set, victim, "room"))) return undefined;
    const loadedAtMs = clock.now();
    set.loaded.set(server.instance, { server, loadedAtMs, tools: server.tools, lastUseMs: clock.monotonic() });
    set.counts.loads += 1;
    set.counts.loadTimeMs += durationMs;
    publish(set);
    events.emit({ type: "namespace.loaded", ...about(set, server), tools: server.tools.length, durationMs, why });
    return loadedAtMs;
  }

  function evict(set: NamespaceSet, instance: InstanceId, why: EvictionReason): void {
    const entry = set.loaded.get(instance);
    if (entry === undefined) return;
    set.loaded.delete(instance);
    set.counts.evictions += 1;
    freeTools(set, entry, []);
    publish(set);
    events.emit({ type: "namespace.evicted", ...about(set, entry.server), why });
  }

  /**
   * Frees validators, which are shared by content: those that another principal's set or the new list still uses are
   * kept.
   */
  function freeTools(set: NamespaceSet, entry: LoadedNamespace, staying: readonly ToolEntry[]): void {
    for (const other of sets.values()) if (other !== set && other.loaded.has(entry.server.instance)) return;
    const kept = new Set(staying.map((tool) => tool.hash));
    deps.release(entry.tools.filter((tool) => !kept.has(tool.hash)));
  }

  const about = ({ principal }: NamespaceSet, server: ViewServer) => aboutNamespace(clock.now(), principal, server);

  return {
    of(principal) {
      const known = sets.get(principal.id);
      if (known === undefined) return open(principal);
      // One that sees less would make the others seem to have left.
      if (principal.only === undefined && principal.profile === undefined) known.principal = principal;
      return known;
    },
    find: (principal) => sets.get(principal),
    all: () => sets.values(),
    touch(set, entry) {
      entry.lastUseMs = clock.monotonic();
      set.counts.hits += 1;
      events.emit({ type: "namespace.used", ...about(set, entry.server) });
    },
    enter,
    evict,
  };
}

/** Of those that were there before the new one, the oldest first. */
function leastMissed(earlier: readonly NamespaceSet[]): NamespaceSet | undefined {
  return earlier.find((set) => set.loaded.size === 0) ?? earlier[0];
}

function emptySet(principal: Principal): NamespaceSet {
  const counts = { loads: 0, hits: 0, evictions: 0, errors: 0, loadTimeMs: 0, migrations: 0 };
  return { principal, loaded: new Map(), snapshot: noneLoaded, counts };
}

function publish(set: NamespaceSet): void {
  set.snapshot = new Map([...set.loaded].map(([instance, { loadedAtMs }]) => [instance, { loadedAtMs }]));
}

/** The fields with which every event about a namespace of a principal begins. */
export function aboutNamespace(atMs: number, principal: Principal, { instance, slug, namespace }: ViewServer) {
  const team = principal.team ?? undefined;
  return { atMs, principal: principal.id, team, instance, installation: instance, server: slug, namespace };
}

/** Makes room for one more namespace. Returns false when everything that is loaded is pinned. */
function makeRoom(
  set: NamespaceSet,
  coming: ViewServer,
  deps: NamespaceSetsDeps,
  evict: (victim: InstanceId) => void,
): boolean {
  const settings = deps.settings();
  while (set.loaded.size >= settings.maxLoaded) {
    const victim = chooseVictim(set.loaded, settings, (instance) => deps.useOf(set.principal.id, instance));
    if (victim === undefined) {
      const reason =
        `${set.loaded.size} namespaces are loaded, all of them to be kept ` +
        `(${settingNow("namespaces.maxLoaded", settings.maxLoaded)})`;
      deps.log.warn(
        { component: "namespaces", server: coming.slug },
        `${coming.namespace} is not kept loaded: ${reason}`,
      );
      return false;
    }
    evict(victim);
  }
  return true;
}

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
function chooseVictim(
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
