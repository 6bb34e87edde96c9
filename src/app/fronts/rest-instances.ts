import { hasRole } from "../../engine/policy/rights.ts";
import type { Services } from "../../operations/services.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { reaches, type Principal } from "../../kernel/principal.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { connectPage } from "../people/people-wiring.ts";
import { mayDecideLogin } from "../people/person-servers.ts";
import { takesLogin } from "../servers/server-logins.ts";

type Parts = Pick<GatewayParts, "fleet" | "team" | "logins" | "events" | "publicUrl">;

/** Instances of others that somebody manages, and logins at servers, as REST uses them. */
export function createInstanceAccess({
  fleet,
  team,
  logins,
  events,
  publicUrl,
}: Parts): Pick<Services, "managedInstance" | "onStatus" | "serverLogins"> {
  /** The team in which somebody has an instance, or that shares it; undefined for one of the whole gateway. */
  function teamOf({ server, owner }: Instance): string | undefined {
    if (server.installed !== undefined) return server.installed.team;
    return owner === null ? undefined : team?.people()?.directory.book.members.get(owner)?.team.slug;
  }

  return {
    managedInstance(principal, id) {
      const instance = fleet.get(id as InstanceId);
      if (instance === undefined || !reaches(principal, instance.server.slug)) return undefined;
      const slug = teamOf(instance);
      return slug !== undefined && runs(principal, slug) ? instance : undefined;
    },
    onStatus: (listener) =>
      events.on(["mcp.server.status_changed", "mcp.server.dormant", "mcp.server.respawned"], ({ instance }) =>
        listener(instance),
      ),
    serverLogins: {
      async of({ id, server }) {
        if (!takesLogin(server.transport)) return { takesLogin: false, hasLogin: false };
        return { takesLogin: true, hasLogin: (await logins.loginOf(id)) !== undefined };
      },
      pageOf: (instance) => (team === undefined ? undefined : connectPage(publicUrl, instance)),
      mayDecide: (principal, { owner, server }) =>
        mayDecideLogin(
          { isShared: owner === null, installed: server.installed },
          { isAdmin: principal.roles.includes("admin"), isManager: hasRole(principal, "team-admin") },
        ),
      logOut: async ({ id, server }) => await logins.logOut(server, id),
    },
  };
}

function runs(principal: Principal, team: string): boolean {
  return principal.roles.includes("admin") || (principal.team === team && hasRole(principal, "team-admin"));
}
