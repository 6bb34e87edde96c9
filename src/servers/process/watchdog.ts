import type { Clock } from "../../kernel/clock.ts";
import type { TreeLifetime, TreeUsage } from "./tree-lifetime.ts";

/** What one server's process tree may use. */
export interface TreeLimits {
  readonly processes: number;
  readonly residentBytes: number;
}

/**
 * Far above what servers need (a browser with many tabs: some 100 processes, 2-3 GB), far below what takes a machine
 * down.
 */
export const defaultTreeLimits: TreeLimits = Object.freeze({
  processes: 256,
  residentBytes: 4 * 1024 ** 3,
});

/**
 * Often enough that a fork bomb or a leak is caught before the machine is full, rare enough to cost well under 1 % of
 * a core.
 */
export const defaultWatchIntervalMs = 2_000;
/** What a server starts, it mostly starts at its own start; what was seen is not lost when the gateway is killed. */
const firstLookMs = 200;

export interface Watchdog {
  /** Watches a tree until it is gone. `onExceeded` is told why, before the tree is killed. */
  watch(
    tree: Pick<TreeLifetime, "usage" | "kill" | "gone">,
    limits: TreeLimits,
    onExceeded: (reason: string) => void,
  ): void;
  /** Stops looking. */
  [Symbol.dispose](): void;
}

/**
 * Kills process trees that use too much (fault 81), by looking at /proc every `intervalMs`. Not confined: what happens
 * between two looks, CPU time, disk space, network, and everything where there is no /proc. Whoever needs hard limits
 * runs the gateway, or the server, in a container.
 */
export function createWatchdog({
  clock,
  intervalMs,
}: {
  readonly clock: Clock;
  readonly intervalMs: number;
}): Watchdog {
  const watched = new Set<() => Promise<void>>();
  let cancel: (() => void) | undefined;
  let disposed = false;

  function schedule(): void {
    if (disposed || cancel || watched.size === 0) return;
    cancel = clock.after(intervalMs, () => void look());
  }

  async function look(): Promise<void> {
    await Promise.all([...watched].map((check) => check()));
    cancel = undefined;
    schedule();
  }

  return {
    watch(tree, limits, onExceeded) {
      const check = async () => {
        const reason = await tree.usage().then(
          (usage) => explainExcess(usage, limits),
          () => undefined,
        );
        if (reason === undefined || !watched.delete(check)) return;
        onExceeded(reason);
        tree.kill();
      };
      watched.add(check);
      const cancelFirst = clock.after(firstLookMs, () => void check());
      void tree.gone.then(() => {
        cancelFirst();
        watched.delete(check);
      });
      schedule();
    },
    [Symbol.dispose]() {
      disposed = true;
      cancel?.();
    },
  };
}

/** Why a tree must end, in one sentence for people; undefined when it is within its limits. */
export function explainExcess(usage: TreeUsage, limits: TreeLimits): string | undefined {
  if (usage.processes > limits.processes)
    return `it has ${usage.processes} processes; the limit is ${limits.processes}`;
  if (usage.residentBytes <= limits.residentBytes) return undefined;
  return `it uses ${toMebibytes(usage.residentBytes)} MiB of memory; the limit is ${toMebibytes(limits.residentBytes)} MiB`;
}

function toMebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
