import type { TeamRole } from "../../store/people-rows.ts";

/** What somebody is to a team. `gateway` is above all teams: an admin of the gateway, or its owner. */
export type Standing = "gateway" | TeamRole | undefined;

/** What one may be to do something in a team, from little to much. */
const order = ["member", "admin", "owner", "gateway"] as const;

export function isAtLeast(standing: Standing, least: (typeof order)[number]): boolean {
  return standing !== undefined && order.indexOf(standing) >= order.indexOf(least);
}

/**
 * Whether somebody may give a role in a team, or take it away: admins of a team manage its members, its owners manage
 * its admins, and another owner is made by handing the team over alone.
 */
export function mayManage(standing: Standing, role: TeamRole): boolean {
  if (standing === "gateway") return true;
  if (standing === "owner") return role !== "owner";
  return standing === "admin" && role === "member";
}
