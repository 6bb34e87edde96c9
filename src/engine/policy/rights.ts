import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { requireScope, type Scope } from "./scopes.ts";

/**
 * Who may use a route: anyone, for their own things; a member, admin or owner of the team that the path names (of their
 * own team, where it names none); an admin of the gateway; the owner of its data directory, by commands on its machine.
 * Admins of the gateway may do what the roles in every team may, and the owner may do everything.
 */
export const routeRoles = ["anyone", "member", "team-admin", "team-owner", "admin", "owner"] as const;
export type RouteRole = (typeof routeRoles)[number];

/** What a request has to bring. Each REST route says its own, in `right`: one without does not compile. */
export interface Right {
  readonly role: RouteRole;
  readonly scope: Scope;
  /** Also with a token for single servers: such a route shows nothing beyond the servers that the token is for. */
  readonly limited?: true;
  /** Only for somebody who has just logged in with a browser: what a stolen token or an unlocked screen may not do. */
  readonly recent?: true;
}

/** How long ago a login may be for routes that are `recent`. */
export const recentLoginMs = 15 * 60_000;

/** Looking at one's own servers, and using them. */
export const reading: Right = Object.freeze({ role: "anyone", scope: "mcp:read", limited: true });
export const usingServers: Right = Object.freeze({ role: "anyone", scope: "mcp:tools:execute", limited: true });
/** What one did oneself. */
export const ownRecords: Right = Object.freeze({ role: "anyone", scope: "mcp:read" });
/** What one keeps for oneself. */
export const ownWork: Right = Object.freeze({ role: "anyone", scope: "mcp:tools:execute" });
/** One's own tokens, and whatever else is as good as a credential. */
export const ownCredentials: Right = Object.freeze({ role: "anyone", scope: "mcp:admin" });
export const gatewayReading: Right = Object.freeze({ role: "admin", scope: "mcp:read" });
export const gatewayAdmin: Right = Object.freeze({ role: "admin", scope: "mcp:admin" });
/** What takes everything away or out of the gateway at once. */
export const gatewayUpkeep: Right = Object.freeze({ role: "admin", scope: "mcp:admin", recent: true });
/** What only commands of `toolyard` on the gateway's machine do. */
export const dataOwner: Right = Object.freeze({ role: "owner", scope: "mcp:admin" });
export const teamReading: Right = Object.freeze({ role: "member", scope: "mcp:read" });
export const teamAdmin: Right = Object.freeze({ role: "team-admin", scope: "mcp:admin" });
/** What those who run a team decide about. */
export const definitionReading: Right = Object.freeze({ role: "team-admin", scope: "mcp:read" });
export const teamOwner: Right = Object.freeze({ role: "team-owner", scope: "mcp:admin" });

export interface Rights {
  /** Whether no credentials are needed: everybody is the one local principal. */
  readonly isOpen: boolean;
  /** The team that the path names. */
  readonly team: string | undefined;
  readonly isTeam: (slug: string) => boolean;
  /** How long ago the person logged in with a browser; undefined for any other credential. */
  readonly loginAgeMs: () => number | undefined;
}

/**
 * Throws SCOPE_INSUFFICIENT for a credential that permits less, FORBIDDEN for a role that does, PERSON_UNKNOWN for a
 * team that is not there or is somebody else's (the same for both, fault 94), and LOGIN_NOT_RECENT.
 */
export function requireRight(principal: Principal, right: Right, rights: Rights): void {
  requireScope(principal, right.scope);
  if ((principal.only !== undefined || principal.profile !== undefined) && right.limited !== true)
    throw new GatewayError("FORBIDDEN", "this credential is for using some of the servers, and for nothing else");
  requireRole(principal, right, rights);
  if (right.recent === true) requireRecentLogin(rights.loginAgeMs());
}

/**
 * Throws LOGIN_NOT_RECENT. `ageMs` is that of the login with a browser; undefined for any other credential. For routes
 * of which only some requests need it: their body is read after the right was checked.
 */
export function requireRecentLogin(ageMs: number | undefined): void {
  // A clock that was set back makes a login that has not happened yet: that is none.
  if (ageMs === undefined || ageMs < 0 || ageMs > recentLoginMs)
    throw new GatewayError("LOGIN_NOT_RECENT", "that takes a login of the last 15 minutes, with a browser");
}

function requireRole(principal: Principal, right: Right, { isOpen, team, isTeam }: Rights): void {
  if (right.role === "owner" && principal.via !== "owner")
    throw new GatewayError("FORBIDDEN", "only the owner of the gateway's data directory may do that", {
      hint: "Use a command of `toolyard` on the gateway's machine.",
    });
  if (isOpen || right.role === "anyone") return;
  const isAdmin = principal.roles.includes("admin");
  if (team !== undefined && !(isAdmin ? isTeam(team) : team === principal.team)) throw noTeam();
  if (isAdmin) return;
  if (right.role === "admin" || right.role === "owner")
    throw new GatewayError("FORBIDDEN", "only an admin may do that");
  if (!hasRole(principal, right.role))
    throw new GatewayError(
      "FORBIDDEN",
      `only ${right.role === "team-owner" ? "an owner" : "an admin"} of the team may`,
    );
}

export function noTeam(): GatewayError {
  return new GatewayError("PERSON_UNKNOWN", "there is no such team", {
    hint: "`toolyard team list` and GET /api/teams list yours.",
  });
}

/** Whether somebody is this in their own team. */
export function hasRole({ roles, team }: Principal, role: Exclude<RouteRole, "anyone" | "admin" | "owner">): boolean {
  if (team === null) return false;
  if (roles.includes("team-owner") || role === "member") return true;
  return role === "team-admin" && roles.includes("team-admin");
}
