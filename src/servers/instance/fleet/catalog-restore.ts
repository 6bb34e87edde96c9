import type { PrincipalId } from "../../../kernel/ids.ts";

/** Loads of kept catalogs from disk, for principals' own instances. */
export interface Adoptions {
  /** Notes a load that is running for a principal. */
  note(principal: PrincipalId, adding: Promise<void>): void;
  /** Settles when all of the principal's loads are done; undefined when none is running. */
  of(principal: PrincipalId): Promise<void> | undefined;
}

/** No loads at first. */
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
