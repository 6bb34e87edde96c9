import type { Intent } from "../../catalog/exposure/intent.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";

/** What a credential can permit. Each scope includes those before it. */
export const scopes = ["mcp:read", "mcp:tools:execute", "mcp:admin"] as const;
export type Scope = (typeof scopes)[number];

/**
 * Beside them, and in none of them: a personal token with it says yes and no to calls that others wait for, and reads
 * what `mcp:read` does. No app and no other credential gets it.
 */
export const approveScope = "mcp:approve";
/** What a personal token can be limited to. */
export const tokenScopes = [...scopes, approveScope] as const;
export type TokenScope = (typeof tokenScopes)[number];

export function isTokenScope(text: string): text is TokenScope {
  return text === approveScope || isScope(text);
}

/** Whether a credential is one that says yes for people: never one without scopes, which permits what the roles do. */
export function isApproving({ scopes: given }: Pick<Principal, "scopes">): boolean {
  return given.includes(approveScope);
}

export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}

/**
 * What an intent needs. Looking at what there is takes `mcp:read`, and whatever a server may do something for takes
 * `mcp:tools:execute`. A request that is forwarded as it is may be anything.
 */
const neededBy: Readonly<Record<Intent["kind"], Scope>> = Object.freeze({
  call: "mcp:tools:execute",
  forward: "mcp:tools:execute",
  read: "mcp:read",
  prompt: "mcp:read",
  complete: "mcp:read",
  kept: "mcp:read",
  discover: "mcp:read",
  "list-resources": "mcp:read",
  "list-namespace": "mcp:read",
  answer: "mcp:read",
});

export function scopeOf({ kind }: Pick<Intent, "kind">): Scope {
  return neededBy[kind];
}

/** Whether the principal's credential permits what needs this scope. Says nothing about roles. */
export function permits({ scopes: given }: Pick<Principal, "scopes">, needed: Scope): boolean {
  if (needed === "mcp:read" && given.includes(approveScope)) return true;
  return given.length === 0 || scopes.slice(scopes.indexOf(needed)).some((scope) => given.includes(scope));
}

/** Throws SCOPE_INSUFFICIENT, before anything is done. Costs nothing for a credential without scopes. */
export function requireScope(principal: Pick<Principal, "scopes">, needed: Scope): void {
  if (principal.scopes.length > 0 && !permits(principal, needed)) throw insufficientScope(needed);
}

/** `scope` of its data is the whole set that the operation needs (RFC 6750, section 3.1; 2026-07-28, authorization). */
export function insufficientScope(needed: Scope): GatewayError {
  const scope = scopes.slice(0, scopes.indexOf(needed) + 1).join(" ");
  return new GatewayError("SCOPE_INSUFFICIENT", `this credential does not permit it: ${needed} is missing`, {
    data: { scope },
  });
}

/** The scope parameter of a refusal; undefined for any other failure. */
export function wantedScope({ code, data }: Pick<GatewayError, "code" | "data">): string | undefined {
  const scope = code === "SCOPE_INSUFFICIENT" ? data?.["scope"] : undefined;
  return typeof scope === "string" ? scope : undefined;
}
