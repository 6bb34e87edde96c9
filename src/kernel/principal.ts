import type { PrincipalId } from "./ids.ts";

/** Who calls. Local mode has exactly one, {@link localPrincipal}. */
export interface Principal {
  readonly id: PrincipalId;
  readonly team: string | null;
  readonly roles: readonly string[];
  /** What the credential is good for; empty means everything that the roles allow. */
  readonly scopes: readonly string[];
}

export const localPrincipal: Principal = Object.freeze({
  id: "local" as PrincipalId,
  team: null,
  roles: Object.freeze(["admin"]),
  scopes: Object.freeze([]),
});
