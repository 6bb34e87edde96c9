import type { Approver } from "./call/tool-effects.ts";
import type { PrincipalId } from "./ids.ts";

/**
 * What a request came with: a personal token (`pat`), an application's grant, a browser's session, a token for one
 * instance (`instance`), a token of a foreign authorization server (`jwt`), a token of the configuration (`config`),
 * the socket of the data directory's owner (`owner`), or nothing, where no credential is required (`local`).
 */
export type Credential = "pat" | "grant" | "session" | "instance" | "jwt" | "config" | "owner" | "local";

/**
 * Who makes a request, and with which kind of credential. A gateway in local mode has exactly one principal, {@link
 * localPrincipal}. In team mode the id is that of a membership, one user in one team, and each credential of it has a
 * principal object of its own: they share the id, and with it everything that is kept by id.
 */
export interface Principal {
  readonly id: PrincipalId;
  /** The user of the database; null for people of the configuration. Limits count everything of one user together. */
  readonly user: string | null;
  readonly via: Credential;
  /**
   * Tells the credentials of one person apart that are kept in a database, the same at all of its gateways: a token's
   * id, a grant's. Absent where they do not differ.
   */
  readonly credential?: string | undefined;
  readonly team: string | null;
  readonly roles: readonly string[];
  /** What the credential permits (`engine/policy/scopes.ts`); empty means everything that the roles permit. */
  readonly scopes: readonly string[];
  /** The servers that the credential is for, by slug; absent means all. */
  readonly only?: readonly string[] | undefined;
  /** The profile (`toolyard.profiles`) within which it sees and calls; absent means everything that it may. */
  readonly profile?: string | undefined;
  /** Whom a request's path narrowed to the profile; absent where the credential itself is for it. */
  readonly narrowedFrom?: Principal | undefined;
  /** The URL of the one resource that the credential was given out for; absent when it opens all of them. */
  readonly audience?: string | undefined;
}

/** The only principal of a gateway in local mode. */
export const localPrincipal: Principal = Object.freeze({
  id: "local" as PrincipalId,
  user: null,
  via: "local",
  team: null,
  roles: Object.freeze(["admin"]),
  scopes: Object.freeze([]),
});

/**
 * Who logged in at the dashboard with a code of `toolyard open`, in a gateway that otherwise asks for a credential: an
 * admin who loses nothing with anybody in the lists of people. Not the owner of the data directory, who comes by a
 * socket: a cookie may do less.
 */
export const dashboardPrincipal: Principal = Object.freeze({ ...localPrincipal });

/** Tells credentials of one person apart, also at another gateway: there, other objects stand for them. */
export function credentialText({ via, credential, profile, only }: Principal): string {
  return JSON.stringify([via, credential ?? null, profile ?? null, only ?? null]);
}

/** Whether somebody is what it takes to say yes to calls of other people of a team, or of no team. */
export function isApprover({ roles, team }: Principal, approver: Approver, of: string | null): boolean {
  if (approver === "self") return false;
  if (roles.includes("admin")) return true;
  const runsTeam = roles.includes("team-owner") || roles.includes("team-admin");
  return approver === "team-admin" && runsTeam && team !== null && team === of;
}

/** How the audit names somebody who asks: the owner of the data directory is no principal of its own. */
export function auditName({ id, via }: Pick<Principal, "id" | "via">): string {
  return via === "owner" ? "owner" : id;
}

/** Whether the principal's credential is for this server. */
export function reaches({ only }: Principal, slug: string): boolean {
  return only === undefined || only.includes(slug);
}
