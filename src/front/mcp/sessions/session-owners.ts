import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Session } from "./session.ts";
import { createUseOrder, type UseOrder } from "./use-order.ts";

/** The sessions of one principal, those first that were not used for longest. */
export interface OwnedSessions {
  readonly order: UseOrder<Session>;
  readonly count: number;
}

/** How many sessions each principal has, counted as they come and go. */
export interface SessionOwners {
  /** Counts one more. */
  take(principal: PrincipalId): OwnedSessions;
  /** Counts one less. */
  release(principal: PrincipalId): void;
  /** Of whom has the most; undefined where that is this principal. */
  most(besides: PrincipalId): OwnedSessions | undefined;
}

export function createSessionOwners(): SessionOwners {
  const owners = new Map<PrincipalId, { readonly order: UseOrder<Session>; count: number }>();
  /** Who has one session, who has two, and so on. Counts change by one, so that the highest is known. */
  const byCount: Set<PrincipalId>[] = [new Set()];

  function move(principal: PrincipalId, from: number, to: number): void {
    byCount[from]?.delete(principal);
    (byCount[to] ??= new Set()).add(principal);
    while (byCount.length > 1 && byCount.at(-1)?.size === 0) byCount.pop();
  }

  return {
    take(principal) {
      const owner = owners.get(principal) ?? { order: createUseOrder<Session>(), count: 0 };
      owners.set(principal, owner);
      owner.count += 1;
      move(principal, owner.count - 1, owner.count);
      return owner;
    },
    release(principal) {
      const owner = owners.get(principal);
      if (owner === undefined) return;
      owner.count -= 1;
      move(principal, owner.count + 1, owner.count);
      if (owner.count > 0) return;
      owners.delete(principal);
      byCount[0]?.delete(principal);
    },
    most(besides) {
      const holders = byCount.at(-1) as ReadonlySet<PrincipalId>;
      const [holder] = holders;
      return holder === undefined || holders.has(besides) ? undefined : owners.get(holder);
    },
  };
}
