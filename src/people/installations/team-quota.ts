import { hasProcess } from "../../config/entry/transports.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstallationRow } from "../../store/install-rows.ts";
import type { TeamLimits } from "../../store/people-rows.ts";
import type { InstallIndex } from "./install-index.ts";
import type { Template, TemplateCatalog } from "./template-catalog.ts";
import { filePrefix } from "./tiered-servers.ts";

/** What decides whether a team may install one server more. */
export interface TeamRoom {
  readonly book: Pick<InstallIndex, "ofTeam" | "templates">;
  readonly catalog: Pick<TemplateCatalog, "fileServer">;
  /** The limits that an admin gave the team; without them, nothing is limited. */
  readonly limitsOf: (teamId: string) => TeamLimits;
}

/** Of one team. A view of more is one that no model finds anything in. */
const mostInstallations = 500;

/**
 * Throws INSTALLATION_CONFLICT. Counted where something is installed: what a team has stays when a limit is lowered or
 * a template changes.
 */
export function requireRoom({ book, catalog, limitsOf }: TeamRoom, teamId: string, { tiered }: Template): void {
  const { servers = mostInstallations, programs = mostInstallations } = limitsOf(teamId);
  const rows = book.ofTeam(teamId);
  const most = Math.min(mostInstallations, servers);
  if (rows.length >= most) throw noRoom(`${most} servers`);
  if (!hasProcess(tiered.server.transport)) return;
  // Nothing is built for it: a template that fits no longer is in no other's way.
  const kindOf = ({ templateId }: InstallationRow) =>
    templateId.startsWith(filePrefix)
      ? catalog.fileServer(templateId)?.server.transport.kind
      : book.templates.get(templateId)?.transport;
  const isProgram = (row: InstallationRow): boolean => kindOf(row) === tiered.server.transport.kind;
  if (programs < mostInstallations && rows.filter(isProgram).length >= programs)
    throw noRoom(
      `${programs === 1 ? "1 program" : `${programs} programs`}, and as many servers with an address as its limits allow`,
    );
}

function noRoom(most: string): GatewayError {
  return new GatewayError("INSTALLATION_CONFLICT", `this team may install at most ${most}`, {
    hint: "Uninstall one, or have an admin of the gateway raise the team's limit (`toolyard team limits`).",
  });
}
