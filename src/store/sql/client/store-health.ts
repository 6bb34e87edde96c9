import type { StoreHealth, StoreProblem } from "../../record-store.ts";

/** The problems of the store, as the worker and its absence tell them. */
export interface HealthBoard {
  readonly health: StoreHealth;
  /** Whether records cannot be written now. */
  hasNoRecords(): boolean;
  /** The worker has tried both databases. */
  open(): void;
  /** The problems of the databases. */
  set(problems: readonly StoreProblem[]): void;
  /** The worker has ended. */
  lose(problem: StoreProblem): void;
  close(): void;
  listen(listener: (health: StoreHealth) => void): () => void;
}

export function createHealthBoard(): HealthBoard {
  const listeners = new Set<(health: StoreHealth) => void>();
  let health: StoreHealth = { status: "opening", problems: [] };
  let noRecords = false;
  /** What the worker was lost for is over when it has opened its databases. */
  let lost: StoreProblem | undefined;

  function change(next: StoreHealth): void {
    if (health.status === "closed") return;
    health = next;
    // Without its thread, they wait for the next one.
    noRecords = next.problems.some(({ database, kind }) => database !== "state" && kind !== "worker");
    for (const listener of listeners) listener(next);
  }

  const statusOf = (problems: readonly StoreProblem[]) => (problems.length === 0 ? "ready" : "degraded");
  return {
    get health() {
      return health;
    },
    hasNoRecords: () => noRecords,
    open() {
      // It was asleep, and nothing has changed.
      if (health.status === "ready") return;
      const problems = health.problems.filter((problem) => problem !== lost);
      change({ status: statusOf(problems), problems });
    },
    set(problems) {
      change({ status: health.status === "opening" ? "opening" : statusOf(problems), problems });
    },
    lose(problem) {
      lost = problem;
      change({ status: "degraded", problems: [problem] });
    },
    close: () => change({ status: "closed", problems: [] }),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
