import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { TreeLifetime, TreeUsage } from "./tree-lifetime.ts";

/** The most that the process tree of one server may use. */
export interface TreeLimits {
  readonly processes: number;
  readonly residentBytes: number;
}

/**
 * Far more than servers need (a browser with many tabs has about 100 processes and 2 to 3 GB), and far less than what
 * makes a machine unusable.
 */
export const defaultTreeLimits: TreeLimits = Object.freeze({
  processes: 256,
  residentBytes: 4 * 1024 ** 3,
});

/**
 * Often enough to catch a fork bomb or a leak before the machine is full, and rare enough to take well under 1 % of a
 * core.
 */
export const defaultWatchIntervalMs = 2_000;
/**
 * The first look comes early, because servers start most of their processes at the beginning, and processes that have
 * been seen are found even when the gateway is killed.
 */
const firstLookMs = 200;

/** Ends process trees that use too much. */
export interface Watchdog {
  /** Watches a tree until it has ended. `onExceeded` gets the reason before the tree is killed. */
  watch(
    tree: Pick<TreeLifetime, "usage" | "kill" | "gone">,
    limits: TreeLimits,
    onExceeded: (reason: string) => void,
  ): void;
  /** Stops watching all trees. */
  [Symbol.dispose](): void;
}

/**
 * Kills process trees that use too much (fault 81), by reading /proc every `intervalMs`. It does not limit what
 * happens between two looks, CPU time, disk space or network, and it does nothing where there is no /proc. For hard
 * limits, run the gateway or the server in a container.
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

/** Why a tree must end, as one sentence for people; undefined when it is within its limits. */
export function explainExcess(usage: TreeUsage, limits: TreeLimits): string | undefined {
  if (usage.processes > limits.processes)
    return `it has ${usage.processes} processes; the limit is ${limits.processes}`;
  if (usage.residentBytes <= limits.residentBytes) return undefined;
  const limit = toMebibytes(limits.residentBytes);
  return `it uses ${toMebibytes(usage.residentBytes)} MiB of memory; the limit is ${limit} MiB`;
}

function toMebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
