import type { View } from "../../catalog/model/view.ts";
import type { NamespaceSettings } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Principal } from "../../kernel/principal.ts";
import { isPinned } from "./namespace-choice.ts";
import type { NamespaceSets } from "./namespace-sets.ts";

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
export function createNamespaceSweeper({ sets, settings, viewOf, clock, lifetime }: NamespaceSweeperDeps): () => void {
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
