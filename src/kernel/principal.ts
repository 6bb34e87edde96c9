import type { PrincipalId } from "./ids.ts";

/** Who makes a request. A gateway in local mode has exactly one principal, {@link localPrincipal}. */
export interface Principal {
  readonly id: PrincipalId;
  readonly team: string | null;
  readonly roles: readonly string[];
  /** What the credential permits; empty means everything that the roles permit. */
  readonly scopes: readonly string[];
}

/** The only principal of a gateway in local mode. */
export const localPrincipal: Principal = Object.freeze({
  id: "local" as PrincipalId,
  team: null,
  roles: Object.freeze(["admin"]),
  scopes: Object.freeze([]),
});
