import { setMaxListeners } from "node:events";
import type { LoadedNamespaces } from "../../catalog/model/namespace-names.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ViewServer } from "../../catalog/model/view.ts";
import type { EventBus } from "../../kernel/event-bus.ts";
import type { EventOf } from "../../kernel/event.ts";
import type { Log } from "../../kernel/log.ts";
import { untilAborted } from "../../kernel/abort.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { isPinned, toPreload } from "./namespace-choice.ts";
import { createNamespaceLoader, type NamespaceLoaderDeps } from "./namespace-loader.ts";
import { createNamespaceSets, type NamespaceSet } from "./namespace-sets.ts";
import { createNamespaceUsage, type NamespaceUsageStore, type NamespaceUse } from "./namespace-usage.ts";

/**
 * Which namespaces are loaded, per principal: lists may not vary by connection (2026-07-28). Loading makes sure that
 * the entry is fresh and that the tools' validators are built; being evicted frees them. What is not loaded can be
 * called all the same.
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

export interface NamespaceLoadsDeps extends NamespaceLoaderDeps {
  /** Frees what `prepare` built. */
  readonly release: (tools: readonly ToolEntry[]) => void;
  readonly store: NamespaceUsageStore;
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
}

/** Who asked for a load; what is switched off is listed, but not kept. */
type Why = "asked" | "preload" | "unlisted";

export function createNamespaceLoads(deps: NamespaceLoadsDeps): NamespaceLoads {
  const { clock, events, settings } = deps;
  const lifetime = new AbortController();
  // Every load that runs listens to it: that is no leak.
  setMaxListeners(0, lifetime.signal);
  const usage = createNamespaceUsage();
  const restoring = deps.store.load().then((uses) => usage.adopt(uses ?? []));
  const loadServer = createNamespaceLoader(deps, lifetime.signal);
  // Not at once: whoever asks for the set is in the middle of building a view.
  const onNew = (principal: Principal): void => void clock.after(0, () => void preload(principal));
  const sets = createNamespaceSets({
    settings,
    useOf: usage.get,
    release: deps.release,
    onNew,
    events,
    log: deps.log,
    clock,
  });
  const pending = new Map<string, Promise<NamespaceLoad>>();
  const sweepLater = createSweeper();
  const save = createLateSave(clock, () => deps.store.save(usage.snapshot()));
  const unsubscribe = events.on(["mcp.request.logs", "tool.bare_name"], (event) => {
    if (event.type === "mcp.request.logs") {
      if (event.method === "tools/call") countCall(event);
    } else if (event.migrated) countMigration(event);
  });

  function countCall({ principal, instance, name, atMs }: EventOf<"mcp.request.logs">): void {
    usage.countCall(principal, instance, name, atMs);
    save.soon();
    const set = sets.find(principal);
    const entry = set?.loaded.get(instance);
    if (set !== undefined && entry !== undefined) sets.touch(set, entry);
  }

  function countMigration({ principal }: EventOf<"tool.bare_name">): void {
    const set = sets.find(principal);
    if (set !== undefined) set.counts.migrations += 1;
  }

  async function load(principal: Principal, server: ViewServer, signal: AbortSignal): Promise<NamespaceLoad> {
    const { enabled, cacheTtlMs } = settings();
    usage.countLoad(principal.id, server.instance, clock.now());
    save.soon();
    const set = sets.of(principal);
    const entry = set.loaded.get(server.instance);
    const loading = share(set, server, cacheTtlMs, enabled ? "asked" : "unlisted");
    if (entry === undefined) return await untilAborted(loading, signal);
    // It is there: when it is old, it is made fresh for the next one.
    sets.touch(set, entry);
    loading.catch(() => undefined);
    return { loadedAtMs: entry.loadedAtMs, stale: undefined };
  }

  function share(set: NamespaceSet, server: ViewServer, maxAgeMs: number, why: Why): Promise<NamespaceLoad> {
    const key = `${set.principal.id}\n${server.instance}`;
    const running = pending.get(key) ?? run(set, server, maxAgeMs, why).finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  }

  async function run(set: NamespaceSet, server: ViewServer, maxAgeMs: number, why: Why): Promise<NamespaceLoad> {
    try {
      const { server: current, durationMs, stale } = await loadServer(set.principal, server, maxAgeMs);
      const loadedAtMs = why === "unlisted" ? undefined : sets.enter(set, current, why, durationMs);
      sweepLater();
      return { loadedAtMs, stale };
    } catch (error) {
      set.counts.errors += 1;
      const { instance, slug, namespace } = server;
      const code = toGatewayError(error).code;
      events.emit({
        type: "namespace.load_failed",
        atMs: clock.now(),
        principal: set.principal.id,
        instance,
        server: slug,
        namespace,
        code,
      });
      throw error;
    }
  }

  async function preload(principal: Principal): Promise<void> {
    await restoring;
    const { enabled, cacheTtlMs } = settings();
    if (!enabled || lifetime.signal.aborted) return;
    const set = sets.of(principal);
    const { servers } = deps.viewOf(principal);
    const { kept, used, unknown } = toPreload(servers, settings(), usage.of(principal.id));
    for (const name of servers.length === 0 ? [] : unknown)
      warn(`namespaces.preload names ${JSON.stringify(name)}, which no server has`);
    const missing = (server: ViewServer): boolean => !set.loaded.has(server.instance);
    const results = await Promise.allSettled([
      ...kept.filter(missing).map(async (server) => await share(set, server, cacheTtlMs, "preload")),
      // What was only used before must not start a process that nobody asked for.
      ...used.filter(missing).map(async (server) => await share(set, server, Number.POSITIVE_INFINITY, "preload")),
    ]);
    for (const result of results) {
      if (result.status === "rejected" && !lifetime.signal.aborted)
        warn(`a namespace could not be loaded: ${toGatewayError(result.reason).message}`);
    }
  }

  function warn(message: string): void {
    deps.log.warn({ component: "namespaces", operation: "preload" }, message);
  }

  /** One timer, for the namespace that has been idle for longest. */
  function createSweeper(): () => void {
    let isWaiting = false;
    const wait = (): void => {
      const rest = nextExpiryMs();
      if (isWaiting || rest === undefined || lifetime.signal.aborted) return;
      isWaiting = true;
      clock.after(Math.max(minSweepMs, rest), () => {
        isWaiting = false;
        if (lifetime.signal.aborted) return;
        sweep();
        wait();
      });
    };
    return wait;
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
      const there = new Set(deps.viewOf(set.principal).servers.map((server) => server.instance));
      for (const [instance, entry] of [...set.loaded]) {
        const isIdle = !isPinned(entry.server, now) && clock.monotonic() - entry.lastUseMs >= now.cacheTtlMs;
        if (!there.has(instance)) sets.evict(set, instance, "gone");
        else if (isIdle) sets.evict(set, instance, "idle");
      }
    }
  }

  return {
    of: (principal) => sets.of(principal).snapshot,
    load,
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

/** However short the TTL is, the sets are not looked through more often. */
const minSweepMs = 250;
/** Counts reach the disk this much later, all together. */
const saveDelayMs = 10_000;

/** Saves what was counted: some time after it was, and whatever is left at the end. */
function createLateSave(clock: Clock, run: () => void): { soon(): void; now(): void } {
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
