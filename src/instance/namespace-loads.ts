import { setMaxListeners } from "node:events";
import { noneLoaded, type LoadedNamespaces } from "../catalog/namespaces.ts";
import type { ToolEntry } from "../catalog/snapshot.ts";
import type { View, ViewServer } from "../catalog/view.ts";
import type { NamespaceSettings } from "../config/config.ts";
import type { EventBus } from "../events/bus.ts";
import type { EventOf } from "../events/event.ts";
import type { Log } from "../events/log.ts";
import { abortAfter, untilAborted } from "../shared/abort.ts";
import type { Clock } from "../shared/clock.ts";
import { GatewayError, toGatewayError } from "../shared/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../shared/ids.ts";
import type { Principal } from "../shared/principal.ts";
import { createSemaphore, type Semaphore } from "../shared/semaphore.ts";
import { chooseVictim, isPinned, toPreload } from "./namespace-choice.ts";
import { createNamespaceUsage, type NamespaceUsageStore, type NamespaceUse } from "./namespace-usage.ts";

/**
 * Which namespaces are loaded, per principal: lists may not vary by connection (PROTOCOL.md). Loading makes sure that the entry is fresh
 * and that the tools' validators are built; being evicted frees them. What is not loaded can be called all the same.
 */
export interface NamespaceLoads extends AsyncDisposable {
  /** What is loaded now; a new object after every change. The first time a principal is seen, its preloading begins. */
  of(principal: Principal): LoadedNamespaces;
  /**
   * Loads a server's namespace, or marks it as used when it is loaded. Any number of callers share one loading. Rejects with why the
   * server cannot be listed when nothing is known of it, and with the signal's reason.
   */
  load(principal: Principal, server: ViewServer, signal: AbortSignal): Promise<NamespaceLoad>;
  /** Loads in the background what is configured to be there, and what was used most in an earlier life. */
  preload(principal: Principal): Promise<void>;
  stats(principal: Principal): NamespaceStats;
}

export interface NamespaceLoad {
  /** Wall clock; undefined when the set is full of namespaces that are kept. */
  readonly loadedAtMs: number | undefined;
  /** Why its tools may be out of date; undefined when they are fresh. */
  readonly stale: string | undefined;
}

export interface NamespaceStats {
  readonly loads: number;
  readonly hits: number;
  readonly evictions: number;
  readonly errors: number;
  /** Of all loads together. */
  readonly loadTimeMs: number;
  /** Calls by bare name that were answered with the full path. */
  readonly migrations: number;
  readonly uses: ReadonlyMap<InstanceId, NamespaceUse>;
}

export interface NamespaceLoadsDeps {
  readonly settings: () => NamespaceSettings;
  readonly viewOf: (principal: Principal) => View;
  /** Fetches an instance's lists again when they are older than that, or unknown. Rejects when that fails. */
  readonly refresh: (instance: InstanceId, maxAgeMs: number, signal: AbortSignal) => Promise<void>;
  /** Builds the tools' validators. Never rejects. */
  readonly prepare: (tools: readonly ToolEntry[], signal: AbortSignal) => Promise<void>;
  /** Frees them. */
  readonly release: (tools: readonly ToolEntry[]) => void;
  readonly store: NamespaceUsageStore;
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
}

/** Principals whose sets are kept; the one unused for longest goes first. */
const mostPrincipals = 1_000;
/** Namespaces that are loaded at a time, of all principals together: each may start a process and compile schemas. */
const parallelLoads = 8;
/** A server that lists this slowly is given up; its callers may have gone before. */
const loadTimeoutMs = 60_000;
/** Schemas that take longer are compiled while the tools are listed already. */
const prepareWaitMs = 5_000;
/** Counts reach the disk this much later, all together. */
const saveDelayMs = 10_000;

interface Loaded {
  readonly server: ViewServer;
  readonly loadedAtMs: number;
  readonly tools: readonly ToolEntry[];
  lastUseMs: number;
}

interface PrincipalSet {
  /** As last seen: a changed file may bring another object for the same person. */
  principal: Principal;
  readonly loaded: Map<InstanceId, Loaded>;
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

export function createNamespaceLoads(deps: NamespaceLoadsDeps): NamespaceLoads {
  const { clock, events } = deps;
  const usage = createNamespaceUsage();
  const sets = new Map<PrincipalId, PrincipalSet>();
  const pending = new Map<string, Promise<NamespaceLoad>>();
  const lifetime = new AbortController();
  // Every load that runs listens to it: that is no leak.
  setMaxListeners(0, lifetime.signal);
  const turns: Readonly<Record<"one" | "several", Semaphore>> = {
    one: createSemaphore(1),
    several: createSemaphore(parallelLoads),
  };
  const restoring = deps.store.load().then((uses) => usage.adopt(uses ?? []));
  let cancelSweep: (() => void) | undefined;
  let cancelSave: (() => void) | undefined;
  const unsubscribe = events.subscribe((event) => {
    if (event.type === "mcp.request.logs" && event.method === "tools/call") countCall(event);
    else if (event.type === "tool.bare_name" && event.migrated) countMigration(event.principal);
  });

  function setOf(principal: Principal): PrincipalSet {
    const known = sets.get(principal.id);
    if (known !== undefined) {
      known.principal = principal;
      return known;
    }
    const made: PrincipalSet = {
      principal,
      loaded: new Map(),
      snapshot: noneLoaded,
      counts: { loads: 0, hits: 0, evictions: 0, errors: 0, loadTimeMs: 0, migrations: 0 },
    };
    sets.set(principal.id, made);
    if (sets.size > mostPrincipals) forgetIdlest();
    // Not now: whoever asks is in the middle of building a view.
    clock.after(0, () => void preload(principal));
    return made;
  }

  function forgetIdlest(): void {
    for (const set of sets.values()) {
      if (set.loaded.size > 0) continue;
      sets.delete(set.principal.id);
      return;
    }
    const [first] = sets.values();
    if (first === undefined) return;
    for (const id of [...first.loaded.keys()]) evict(first, id, "gone");
    sets.delete(first.principal.id);
  }

  function countCall(event: EventOf<"mcp.request.logs">): void {
    usage.countCall(event.principal, event.instance, event.name, event.atMs);
    saveSoon();
    const set = sets.get(event.principal);
    const entry = set?.loaded.get(event.instance);
    if (set !== undefined && entry !== undefined) touch(set, entry);
  }

  function countMigration(principal: PrincipalId): void {
    const set = sets.get(principal);
    if (set !== undefined) set.counts.migrations += 1;
  }

  function touch(set: PrincipalSet, entry: Loaded): void {
    entry.lastUseMs = clock.monotonic();
    set.counts.hits += 1;
    events.emit({ type: "namespace.used", ...about(set.principal, entry.server) });
  }

  function about(principal: Principal, server: ViewServer) {
    return {
      atMs: clock.now(),
      principal: principal.id,
      instance: server.instance,
      server: server.slug,
      namespace: server.namespace,
    };
  }

  async function load(principal: Principal, server: ViewServer, signal: AbortSignal): Promise<NamespaceLoad> {
    const { enabled, cacheTtlMs } = deps.settings();
    usage.countLoad(principal.id, server.instance, clock.now());
    saveSoon();
    const set = setOf(principal);
    const entry = set.loaded.get(server.instance);
    if (entry !== undefined) {
      touch(set, entry);
      void share(set, server, cacheTtlMs, "asked").catch(() => undefined);
      return { loadedAtMs: entry.loadedAtMs, stale: undefined };
    }
    return await untilAborted(share(set, server, cacheTtlMs, enabled ? "asked" : "unlisted"), signal);
  }

  type Why = "asked" | "preload" | "unlisted";

  function share(set: PrincipalSet, server: ViewServer, maxAgeMs: number, why: Why): Promise<NamespaceLoad> {
    const key = `${set.principal.id}\n${server.instance}`;
    const running = pending.get(key) ?? run(set, server, maxAgeMs, why).finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  }

  async function run(set: PrincipalSet, server: ViewServer, maxAgeMs: number, why: Why): Promise<NamespaceLoad> {
    const signal = abortAfter(loadTimeoutMs, lifetime.signal);
    const release = await turns[deps.settings().parallelLoading ? "several" : "one"].acquire(signal);
    const startedMs = clock.monotonic();
    try {
      const stale = await refreshed(server, maxAgeMs, signal, () => serverNow(set.principal, server));
      const current = serverNow(set.principal, server) ?? server;
      await untilAborted(deps.prepare(current.tools, signal), AbortSignal.timeout(prepareWaitMs)).catch(
        () => undefined,
      );
      lifetime.signal.throwIfAborted();
      const loadedAtMs = why === "unlisted" ? undefined : enter(set, current, why, clock.monotonic() - startedMs);
      return { loadedAtMs, stale };
    } catch (error) {
      set.counts.errors += 1;
      events.emit({ type: "namespace.load_failed", ...about(set.principal, server), code: toGatewayError(error).code });
      throw error;
    } finally {
      release();
    }
  }

  function serverNow(principal: Principal, server: ViewServer): ViewServer | undefined {
    return deps.viewOf(principal).servers.find((candidate) => candidate.instance === server.instance);
  }

  /** Tools that are known are listed even when they could not be fetched again, unless the server stands so that nobody sees them. */
  async function refreshed(
    server: ViewServer,
    maxAgeMs: number,
    signal: AbortSignal,
    now: () => ViewServer | undefined,
  ): Promise<string | undefined> {
    try {
      await deps.refresh(server.instance, maxAgeMs, signal);
      return undefined;
    } catch (error) {
      const failure =
        signal.aborted && !lifetime.signal.aborted
          ? new GatewayError("START_TIMEOUT", `${server.slug} was not listed within ${loadTimeoutMs / 1_000} s`)
          : toGatewayError(error);
      const known = now();
      if (known?.part === undefined || !known.shown) throw failure;
      return failure.message;
    }
  }

  function enter(
    set: PrincipalSet,
    server: ViewServer,
    why: "asked" | "preload",
    durationMs: number,
  ): number | undefined {
    const known = set.loaded.get(server.instance);
    const loadedAtMs = clock.now();
    if (known !== undefined && known.tools === server.tools) return known.loadedAtMs;
    if (known !== undefined) freeTools(set, known, server.tools);
    else if (!makeRoom(set, server)) return undefined;
    set.loaded.set(server.instance, { server, loadedAtMs, tools: server.tools, lastUseMs: clock.monotonic() });
    set.counts.loads += 1;
    set.counts.loadTimeMs += durationMs;
    publish(set);
    events.emit({
      type: "namespace.loaded",
      ...about(set.principal, server),
      tools: server.tools.length,
      durationMs,
      why,
    });
    sweepLater();
    return loadedAtMs;
  }

  /** False when everything that is loaded is to be kept, and there is no room beside it. */
  function makeRoom(set: PrincipalSet, coming: ViewServer): boolean {
    const settings = deps.settings();
    while (set.loaded.size >= settings.maxLoaded) {
      const victim = chooseVictim(set.loaded, settings, (instance) => usage.get(set.principal.id, instance));
      if (victim === undefined) {
        deps.log.warn(
          { component: "namespaces", server: coming.slug },
          `${coming.namespace} is not kept loaded: ${set.loaded.size} namespaces are (namespaces.maxLoaded), all of them to be kept`,
        );
        return false;
      }
      evict(set, victim, "room");
    }
    return true;
  }

  function evict(set: PrincipalSet, instance: InstanceId, why: "idle" | "room" | "gone"): void {
    const entry = set.loaded.get(instance);
    if (entry === undefined) return;
    set.loaded.delete(instance);
    set.counts.evictions += 1;
    freeTools(set, entry, []);
    publish(set);
    events.emit({ type: "namespace.evicted", ...about(set.principal, entry.server), why });
  }

  /** Validators are shared by content: those that another principal's set has, or that the new list still has, stay. */
  function freeTools(set: PrincipalSet, entry: Loaded, staying: readonly ToolEntry[]): void {
    for (const other of sets.values()) if (other !== set && other.loaded.has(entry.server.instance)) return;
    const kept = new Set(staying.map((tool) => tool.hash));
    deps.release(entry.tools.filter((tool) => !kept.has(tool.hash)));
  }

  function publish(set: PrincipalSet): void {
    set.snapshot = new Map([...set.loaded].map(([instance, { loadedAtMs }]) => [instance, { loadedAtMs }]));
  }

  /** One timer, for the namespace that has been idle for longest. */
  function sweepLater(): void {
    if (cancelSweep !== undefined || lifetime.signal.aborted) return;
    const settings = deps.settings();
    const lastUses = [...sets.values()].flatMap((set) =>
      [...set.loaded.values()].flatMap((entry) => (isPinned(entry.server, settings) ? [] : [entry.lastUseMs])),
    );
    if (lastUses.length === 0) return;
    const waitMs = Math.max(minSweepMs, Math.min(...lastUses) + settings.cacheTtlMs - clock.monotonic());
    cancelSweep = clock.after(waitMs, () => {
      cancelSweep = undefined;
      sweep();
      sweepLater();
    });
  }

  function sweep(): void {
    const settings = deps.settings();
    const nowMs = clock.monotonic();
    for (const set of sets.values()) {
      for (const [instance, entry] of [...set.loaded]) {
        if (serverNow(set.principal, entry.server) === undefined) evict(set, instance, "gone");
        else if (!isPinned(entry.server, settings) && nowMs - entry.lastUseMs >= settings.cacheTtlMs)
          evict(set, instance, "idle");
      }
    }
  }

  async function preload(principal: Principal): Promise<void> {
    await restoring;
    if (!deps.settings().enabled || lifetime.signal.aborted) return;
    const set = setOf(principal);
    const { kept, used, unknown } = toPreload(deps.viewOf(principal).servers, deps.settings(), usage.of(principal.id));
    const isConfigured = deps.viewOf(principal).servers.length > 0;
    for (const name of isConfigured ? unknown : [])
      deps.log.warn(
        { component: "namespaces", operation: "preload" },
        `namespaces.preload names ${JSON.stringify(name)}, which no server has`,
      );
    const { cacheTtlMs } = deps.settings();
    const results = await Promise.allSettled([
      ...kept.map((server) =>
        set.loaded.has(server.instance) ? undefined : share(set, server, cacheTtlMs, "preload"),
      ),
      // What was only used before must not start a process that nobody asked for.
      ...used.map((server) =>
        set.loaded.has(server.instance) ? undefined : share(set, server, Number.POSITIVE_INFINITY, "preload"),
      ),
    ]);
    for (const result of results) {
      if (result.status === "rejected" && !lifetime.signal.aborted)
        deps.log.warn(
          { component: "namespaces", operation: "preload" },
          `a namespace could not be loaded: ${toGatewayError(result.reason).message}`,
        );
    }
  }

  function saveSoon(): void {
    cancelSave ??= clock.after(saveDelayMs, () => {
      cancelSave = undefined;
      deps.store.save(usage.snapshot());
    });
  }

  return {
    of: (principal) => setOf(principal).snapshot,
    load,
    preload,
    stats(principal) {
      return { ...setOf(principal).counts, uses: usage.of(principal.id) };
    },
    async [Symbol.asyncDispose]() {
      unsubscribe();
      lifetime.abort(new GatewayError("DRAINING", "the gateway is stopping"));
      cancelSweep?.();
      if (cancelSave !== undefined) {
        cancelSave();
        deps.store.save(usage.snapshot());
      }
      await restoring;
      await deps.store[Symbol.asyncDispose]();
    },
  };
}

/** However short the TTL is, the sets are not looked through more often. */
const minSweepMs = 250;
