import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";

/** Counts what happens to the instances that each person's view is made of. */
export interface ViewVersions {
  /** Something happened to an instance of this owner, or to one that everybody has (null). */
  readonly noteChange: (owner: PrincipalId | null) => void;
  /** Never the same as before something happened to what this principal has; unmoved by what happens to others. */
  readonly of: (principal: Principal) => number;
}

/** People whose own counts are kept: beyond that, everybody's view is made anew once. */
const countLimit = 10_000;

export function createViewVersions(): ViewVersions {
  const own = new Map<PrincipalId, number>();
  let everybody = 0;
  return {
    noteChange(owner) {
      if (owner === null) everybody += 1;
      else own.set(owner, (own.get(owner) ?? 0) + 1);
      if (own.size <= countLimit) return;
      // A sum only ever grows: no version comes twice.
      everybody += Math.max(...own.values());
      own.clear();
    },
    of: ({ id }) => everybody + (own.get(id) ?? 0),
  };
}
