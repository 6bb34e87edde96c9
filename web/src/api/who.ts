import { createContext, useContext } from "react";
import type { Session } from "./session.ts";

/** The person logged in, for pages that show less to some. The gateway decides; a page only says so beforehand. */
export const Who = createContext<Session | undefined>(undefined);

export function useWho(): Session {
  const session = useContext(Who);
  if (session === undefined) throw new Error("a page is shown only to somebody who is logged in");
  return session;
}

type Rights = Pick<Session, "roles" | "team">;

/** Whether somebody manages a team: as an admin of the gateway, or as an admin or owner of the team. */
export function mayManageTeam({ roles, team }: Rights, slug: string): boolean {
  if (roles.includes("admin")) return true;
  return team === slug && (roles.includes("team-admin") || roles.includes("team-owner"));
}

/** Whether somebody decides about definitions of tools: of all servers, or of those that their team installed. */
export function mayDecideDefinitions({ roles }: Rights): boolean {
  return ["admin", "team-admin", "team-owner"].some((role) => roles.includes(role));
}

/** Whether somebody is in a team that they do not work in now: the gateway then shows nothing of it. */
export function isOtherTeam({ roles, team, teams }: Rights & Pick<Session, "teams">, slug: string): boolean {
  return !roles.includes("admin") && team !== slug && teams.some((one) => one.team === slug);
}

export function mayOwnTeam({ roles, team }: Rights, slug: string): boolean {
  return roles.includes("admin") || (team === slug && roles.includes("team-owner"));
}
