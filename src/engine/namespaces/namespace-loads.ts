import { setMaxListeners } from "node:events";
import type { LoadedNamespaces } from "../../catalog/model/names/namespace-names.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ViewServer, View } from "../../catalog/model/view.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { abortAfter, untilAborted } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { toPreload, isPinned, createNamespaceSets, type NamespaceSets } from "./namespace-sets.ts";
import {
  createNamespaceLoader,
  type NamespaceLoaderDeps,
  createSharedLoads,
  type NamespaceLoad,
} from "./namespace-loader.ts";
import type { NamespaceUsageStore } from "../../store/store.ts";
import { createNamespaceUsage, type NamespaceUse } from "./namespace-usage.ts";
import type { NamespaceSettings } from "../../config/config.ts";

/** Counts are written this much later, all together. */
const saveDelayMs = 10_000;
/** Namespaces of principals of which is remembered when other gateways were told. */
const mostTold = 10_000;

/** Saves counts some time after they changed, and whatever is unsaved at the end. */
function createDebouncedSave(clock: Clock, run: () => void): { soon(): void; now(): void } {
  let cancel: (() => void) | undefined;
  const save = (): void => {
    cancel = undefined;
    run();
  };
  return {
    soon() {
      cancel ??= clock.after(saveDelayMs, save);
    },
    now() {
      if (cancel === undefined) return;
      cancel();
      save();
    },
  };
}

/**
 * Which namespaces are loaded. Kept per principal, because lists may not vary by connection (2026-07-28). Loading
 * makes sure that the tools are fresh and their validators built; evicting frees the validators. Tools of a namespace
 * that is not loaded can be called all the same.
 */
export interface NamespaceLoads extends AsyncDisposable {
  /** The loaded namespaces. A new object after every change. When a principal is first seen, preloading begins. */
  of(principal: Principal): LoadedNamespaces;
  /**
   * Loads a server's namespace, or marks it as used when it is loaded already. Any number of callers share one load.
   * When nothing is known of the server, rejects with the reason why it cannot be listed. Rejects with the signal's
   * reason when that aborts.
   */
  load(principal: Principal, server: ViewServer, signal: AbortSignal): Promise<NamespaceLoad>;
  /** Has a namespace that is in use at another gateway in use here, by the lists that are known here. */
  follow(principal: Principal, instance: InstanceId): Promise<void>;
  /** Loads in the background what the configuration names, and what was used most in earlier runs. */
  preload(principal: Principal): Promise<void>;
  stats(principal: Principal): NamespaceStats;
}

export interface NamespaceStats {
  readonly loads: number;
  readonly hits: number;
  readonly evictions: number;
  readonly errors: number;
  /** The time of all loads together. */
  readonly loadTimeMs: number;
  /** Calls by bare name whose answer gave the full path. */
  readonly migrations: number;
  readonly uses: ReadonlyMap<InstanceId, NamespaceUse>;
}

export interface NamespaceLoadsDeps extends NamespaceLoaderDeps {
  /** Frees the validators that `prepare` built. */
  readonly release: (tools: readonly ToolEntry[]) => void;
  readonly store: NamespaceUsageStore;
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
  /** Tells other gateways that a namespace is in use. Undefined where there are none. */
  readonly announce: ((principal: PrincipalId, instance: InstanceId) => Promise<void>) | undefined;
}

/** A client's next request may reach another gateway, but a load waits no longer for one that does not answer. */
const announceMs = 1_000;

/**
 * Tells other gateways of loads at once, and of use often enough that they evict nothing that is used here. Undefined
 * where there are none.
 */
function createAnnouncer({ announce, clock, settings }: NamespaceLoadsDeps) {
  if (announce === undefined) return undefined;
  const toldMs = new Map<string, number>();
  return async (principal: PrincipalId, instance: InstanceId, isLoad: boolean): Promise<void> => {
    const key = `${principal} ${instance}`;
    const nowMs = clock.monotonic();
    if (!isLoad && nowMs - (toldMs.get(key) ?? Number.NEGATIVE_INFINITY) < settings().cacheTtlMs / 4) return;
    if (toldMs.size > mostTold) toldMs.clear();
    toldMs.set(key, nowMs);
    await untilAborted(announce(principal, instance), abortAfter(announceMs)).catch(() => undefined);
  };
}

/** Begins with nothing loaded. Usage counts are read from the store in the background. */
export function createNamespaceLoads(deps: NamespaceLoadsDeps): NamespaceLoads {
  const { clock, events, settings } = deps;
  const lifetime = new AbortController();
  // Every running load listens to this signal, so that the many listeners are no leak.
  setMaxListeners(0, lifetime.signal);
  const usage = createNamespaceUsage();
  const restoring = deps.store.load().then((uses) => usage.adopt(uses ?? []));
  const loadServer = createNamespaceLoader(deps, lifetime.signal);
  // Deferred, because the caller is just building a view.
  const onNew = (principal: Principal): void => void clock.after(0, () => void preload(principal));
  const { release, log } = deps;
  const sets = createNamespaceSets({ settings, useOf: usage.get, release, onNew, events, log, clock });
  const sweepLater = createNamespaceSweeper({ sets, settings, viewOf: deps.viewOf, clock, lifetime: lifetime.signal });
  const share = createSharedLoads({ sets, loadServer, events, clock, onLoaded: sweepLater });
  const announce = createAnnouncer(deps);
  const save = createDebouncedSave(clock, () => deps.store.save(usage.snapshot()));
  const unsubscribe = events.on(["mcp.request.logs", "tool.bare_name"], (event) => {
    if (event.type === "mcp.request.logs") {
      if (event.method === "tools/call") countCall(event);
    } else if (event.migrated) countMigration(sets, event);
  });

  function countCall({ principal, instance, name, atMs }: EventOf<"mcp.request.logs">): void {
    usage.countCall(principal, instance, name, atMs);
    save.soon();
    const set = sets.find(principal);
    const entry = set?.loaded.get(instance);
    if (set === undefined || entry === undefined) return;
    sets.touch(set, entry);
    void announce?.(principal, instance, false);
  }

  async function load(principal: Principal, server: ViewServer, signal: AbortSignal): Promise<NamespaceLoad> {
    const { enabled, cacheTtlMs } = settings();
    usage.countLoad(principal.id, server.instance, clock.now());
    save.soon();
    const set = sets.of(principal);
    const entry = set.loaded.get(server.instance);
    const loading = share(set, server, { maxAgeMs: cacheTtlMs, why: enabled ? "asked" : "unlisted" });
    if (entry === undefined) {
      const loaded = await untilAborted(loading, signal);
      await announce?.(principal.id, server.instance, true);
      return loaded;
    }
    // Already loaded. When its tools are old, they are listed again for the next use.
    sets.touch(set, entry);
    loading.catch(() => undefined);
    return { loadedAtMs: entry.loadedAtMs, stale: undefined };
  }

  async function preload(principal: Principal): Promise<void> {
    await restoring;
    const { enabled, cacheTtlMs } = settings();
    if (!enabled || lifetime.signal.aborted) return;
    const set = sets.of(principal);
    const { servers } = deps.viewOf(principal);
    const { kept, used, unknown } = toPreload(servers, settings(), usage.of(principal.id));
    for (const name of servers.length === 0 ? [] : unknown)
      warn(log, `namespaces.preload names ${JSON.stringify(name)}, which no server has`);
    const missing = (server: ViewServer): boolean => !set.loaded.has(server.instance);
    const results = await Promise.allSettled([
      ...kept.filter(missing).map(async (server) => await share(set, server, { maxAgeMs: cacheTtlMs, why: "preload" })),
      // A namespace that is only loaded because of earlier use must not start a process.
      ...used.filter(missing).map(async (server) => await share(set, server, { maxAgeMs: Infinity, why: "preload" })),
    ]);
    for (const result of results) {
      if (result.status === "rejected" && !lifetime.signal.aborted)
        warn(log, `a namespace could not be loaded: ${toGatewayError(result.reason).message}`);
    }
  }

  return {
    of: (principal) => sets.of(principal).snapshot,
    load,
    follow: createFollow({ ...deps, sets, share }),
    preload,
    stats: (principal) => ({ ...sets.of(principal).counts, uses: usage.of(principal.id) }),
    async [Symbol.asyncDispose]() {
      unsubscribe();
      lifetime.abort(new GatewayError("DRAINING", "the gateway is stopping"));
      await restoring;
      save.now();
      await deps.store[Symbol.asyncDispose]();
    },
  };
}

interface FollowDeps extends Pick<NamespaceLoadsDeps, "viewOf" | "settings"> {
  readonly sets: NamespaceSets;
  readonly share: ReturnType<typeof createSharedLoads>;
}

function createFollow({ sets, share, viewOf, settings }: FollowDeps): NamespaceLoads["follow"] {
  return async (principal, instance) => {
    const set = sets.of(principal);
    const entry = set.loaded.get(instance);
    if (entry !== undefined) return sets.touch(set, entry);
    const server = viewOf(principal).servers.find((one) => one.instance === instance);
    if (server === undefined || !settings().enabled) return;
    // The other gateway has just listed it.
    await share(set, server, { maxAgeMs: Infinity, why: "asked" }).catch(() => undefined);
  };
}

function warn(log: Log, message: string): void {
  log.warn({ component: "namespaces", operation: "preload" }, message);
}

function countMigration(sets: NamespaceSets, { principal }: EventOf<"tool.bare_name">): void {
  const set = sets.find(principal);
  if (set !== undefined) set.counts.migrations += 1;
}

export interface NamespaceSweeperDeps {
  readonly sets: Pick<NamespaceSets, "all" | "evict">;
  readonly settings: () => NamespaceSettings;
  readonly viewOf: (principal: Principal) => View;
  readonly clock: Clock;
  /** Aborts when namespaces are shut down. */
  readonly lifetime: AbortSignal;
}

/** The sets are not examined more often than this, however short the TTL is. */
const minSweepMs = 250;

/**
 * Evicts namespaces that have not been used for their TTL, and those whose server was removed. Uses one timer, for the
 * namespace that has been unused for longest. The returned function is to be called after every load.
 */
function createNamespaceSweeper({ sets, settings, viewOf, clock, lifetime }: NamespaceSweeperDeps): () => void {
  let isWaiting = false;

  function wait(): void {
    const rest = nextExpiryMs();
    if (isWaiting || rest === undefined || lifetime.aborted) return;
    isWaiting = true;
    clock.after(Math.max(minSweepMs, rest), () => {
      isWaiting = false;
      if (lifetime.aborted) return;
      sweep();
      wait();
    });
  }

  function nextExpiryMs(): number | undefined {
    const now = settings();
    const loaded = [...sets.all()]
      .flatMap((set) => [...set.loaded.values()])
      .filter((entry) => !isPinned(entry.server, now));
    return loaded.length === 0
      ? undefined
      : Math.min(...loaded.map((entry) => entry.lastUseMs)) + now.cacheTtlMs - clock.monotonic();
  }

  function sweep(): void {
    const now = settings();
    for (const set of sets.all()) {
      const there = new Set(viewOf(set.principal).servers.map((server) => server.instance));
      for (const [instance, entry] of [...set.loaded]) {
        const isIdle = !isPinned(entry.server, now) && clock.monotonic() - entry.lastUseMs >= now.cacheTtlMs;
        if (!there.has(instance)) sets.evict(set, instance, "gone");
        else if (isIdle) sets.evict(set, instance, "idle");
      }
    }
  }

  return wait;
}
