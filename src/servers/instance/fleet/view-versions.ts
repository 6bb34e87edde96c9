import type { Whose } from "./membership.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";

/** Counts what happens to the instances that each person's view is made of. */
export interface ViewVersions {
  /** Something happened to an instance of this owner, of this team, or to one that everybody has (neither). */
  readonly noteChange: (whose: Whose) => void;
  /** Never the same as before something happened to what this principal has; unmoved by what happens to others. */
  readonly of: (principal: Principal) => number;
}

/** People whose own counts are kept: beyond that, every view is made again once. */
const countLimit = 10_000;

export function createViewVersions(): ViewVersions {
  const own = new Map<PrincipalId, number>();
  const teams = new Map<string, number>();
  let everybody = 0;
  return {
    noteChange({ owner, team }) {
      if (owner !== null) own.set(owner, (own.get(owner) ?? 0) + 1);
      else if (team === undefined) everybody += 1;
      else teams.set(team, (teams.get(team) ?? 0) + 1);
      if (own.size <= countLimit && teams.size <= countLimit) return;
      // A sum only ever grows: no version comes twice.
      everybody += Math.max(0, ...own.values()) + Math.max(0, ...teams.values());
      own.clear();
      teams.clear();
    },
    of: ({ id, team }) => everybody + (own.get(id) ?? 0) + (team === null ? 0 : (teams.get(team) ?? 0)),
  };
}
