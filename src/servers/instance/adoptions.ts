import type { PrincipalId } from "../../kernel/ids.ts";

/** What is being read from disk of principals' own instances. */
export interface Adoptions {
  note(principal: PrincipalId, adding: Promise<void>): void;
  /** Settles when it is known; undefined when there is nothing to wait for. */
  of(principal: PrincipalId): Promise<void> | undefined;
}

export function createAdoptions(): Adoptions {
  const running = new Map<PrincipalId, Promise<void>>();
  return {
    note(principal, adding) {
      const all = Promise.all([running.get(principal), adding]).then(() => {
        if (running.get(principal) === all) running.delete(principal);
      });
      running.set(principal, all);
    },
    of: (principal) => (running.size === 0 ? undefined : running.get(principal)),
  };
}
