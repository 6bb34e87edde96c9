import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TeamRole } from "../../store/people-rows.ts";

/** Who asks for something of teams' servers. */
export interface Actor {
  /** As the audit names them: a membership's id, or `owner`. */
  readonly id: string;
  /** Which way they came in. */
  readonly via: string;
  /** Where they called from; absent where that is this machine's owner. */
  readonly ip?: string | null;
  /** An admin of the gateway, or the owner of its data directory. */
  readonly isAdmin: boolean;
  /** The membership that they act with; undefined for the owner of the data directory. */
  readonly membership: { readonly id: string; readonly teamId: string; readonly role: TeamRole } | undefined;
}

/**
 * The action: `see` what a team installed, `use` it with values of one's own, `manage` it and the team's secrets, make
 * templates for one's own team (`template`), or for all teams and of programs (`operate`).
 */
export type InstallRight = "see" | "use" | "manage" | "template" | "operate";

/**
 * The one place that says who may do what with teams' servers. Throws INSTALLATION_UNKNOWN for another's team, so that
 * no one learns what it has, and FORBIDDEN for what needs another role.
 */
export function requireRight(actor: Actor, right: InstallRight, teamId: string | null): void {
  if (actor.isAdmin) return;
  const { membership } = actor;
  if (right === "operate")
    throw forbidden("only an admin of the gateway may do that", "Ask one, or use a server with an address.");
  if (membership === undefined || membership.teamId !== teamId)
    throw new GatewayError("INSTALLATION_UNKNOWN", "there is no such server in your team");
  if ((right === "manage" || right === "template") && membership.role === "member")
    throw forbidden("only an admin or the owner of the team may do that", "Ask one of them.");
}

/** Whether they may see what only those see who manage the team. */
export function mayManage({ isAdmin, membership }: Actor, teamId: string): boolean {
  return isAdmin || (membership?.teamId === teamId && membership.role !== "member");
}

function forbidden(message: string, hint: string): GatewayError {
  return new GatewayError("FORBIDDEN", message, { hint });
}
