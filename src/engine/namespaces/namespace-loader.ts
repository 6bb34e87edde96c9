import type { ViewServer, View } from "../../catalog/model/view.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import { toGatewayError, GatewayError } from "../../kernel/failures/gateway-error.ts";
import { aboutNamespace, type NamespaceSet, type NamespaceSets } from "./namespace-sets.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { NamespaceSettings } from "../../config/config.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createSemaphore, type Semaphore } from "../../kernel/runtime/semaphore.ts";

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

/** A server whose tools are fresh, or at least known, and whose validators are built. */
export interface LoadedServer {
  readonly server: ViewServer;
  readonly durationMs: number;
  /** Why its tools may be out of date. Undefined when they are fresh. */
  readonly stale: string | undefined;
}

export interface NamespaceLoaderDeps {
  readonly settings: () => NamespaceSettings;
  readonly viewOf: (principal: Principal) => View;
  /** Lists an instance again when its lists are older than `maxAgeMs`, or unknown. Rejects when that fails. */
  readonly refresh: (instance: InstanceId, maxAgeMs: number, signal: AbortSignal) => Promise<void>;
  /** Builds the tools' validators. */
  readonly prepare: (tools: readonly ToolEntry[]) => void;
  readonly clock: Clock;
}

/** Loads a server's namespace. Aborted only when the gateway stops, because its callers share the load. */
type LoadServer = (principal: Principal, server: ViewServer, maxAgeMs: number) => Promise<LoadedServer>;

/** Loads at a time, over all principals. Each may start a process. */
const parallelLoads = 8;
/** Listing a server is given up after this time. Its callers may have left earlier. */
const loadTimeoutMs = 60_000;

/** `lifetime` ends all loads when it aborts. */
export function createNamespaceLoader(deps: NamespaceLoaderDeps, lifetime: AbortSignal): LoadServer {
  const turns: Readonly<Record<"one" | "several", Semaphore>> = {
    one: createSemaphore(1),
    several: createSemaphore(parallelLoads),
  };

  /** Known tools are listed even when they could not be listed again, unless the status of the server hides them. */
  async function refresh(
    principal: Principal,
    server: ViewServer,
    maxAgeMs: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    try {
      await deps.refresh(server.instance, maxAgeMs, signal);
      return undefined;
    } catch (error) {
      const isTooSlow = signal.aborted && !lifetime.aborted;
      const failure = isTooSlow
        ? new GatewayError("START_TIMEOUT", `${server.slug} was not listed within ${loadTimeoutMs / 1_000} s`, {
            hint: "Load it again in a moment, or look at the server's stderr.",
          })
        : toGatewayError(error);
      const known = serverNow(principal, server);
      if (known?.catalog === undefined || !known.shown) throw failure;
      return failure.message;
    }
  }

  function serverNow(principal: Principal, server: ViewServer): ViewServer | undefined {
    return deps.viewOf(principal).servers.find((candidate) => candidate.instance === server.instance);
  }

  return async (principal, server, maxAgeMs) => {
    const signal = abortAfter(loadTimeoutMs, lifetime);
    const release = await turns[deps.settings().parallelLoading ? "several" : "one"].acquire(signal);
    const startedMs = deps.clock.monotonic();
    try {
      const stale = await refresh(principal, server, maxAgeMs, signal);
      const current = serverNow(principal, server) ?? server;
      deps.prepare(current.tools);
      lifetime.throwIfAborted();
      return { server: current, durationMs: deps.clock.monotonic() - startedMs, stale };
    } finally {
      release();
    }
  };
}
