import * as z from "zod";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { auditName } from "../../kernel/principal.ts";
import type { Actor } from "../../people/installations/install-rights.ts";
import { mostValues } from "../../people/installations/value-plan.ts";
import type { InstallationSettings } from "../../people/installations/tiered-servers.ts";
import type { Services, RestInstalls } from "../services.ts";
import { requirePeople } from "../request/people-request.ts";
import type { OperationRequest } from "../operation.ts";
import * as schemas from "../schemas.ts";

/** What teams installed, with who asks and the team that the path names, or their own. */
export interface InstallRequest {
  readonly installs: RestInstalls;
  readonly actor: Actor;
  readonly teamId: string;
}

/** Throws CONFIG_INVALID where there are no teams, and PERSON_UNKNOWN for one that is not there. */
export function installRequest(
  services: Services,
  { principal, via, ip }: Pick<OperationRequest, "principal" | "via" | "ip">,
  team: string | undefined,
): InstallRequest {
  const { book, installs } = requirePeople(services);
  const member = book.members.get(principal.id);
  const teamId = team === undefined ? member?.team.id : book.teamOf(team)?.id;
  if (teamId === undefined) throw new GatewayError("PERSON_UNKNOWN", "there is no such team");
  const membership = member && { id: member.row.id, teamId: member.team.id, role: member.row.role };
  const about = { id: auditName(principal), via, ip };
  return { installs, teamId, actor: { ...about, isAdmin: principal.roles.includes("admin"), membership } };
}

/** Of a person who may be in no team. */
export function actorOf(
  services: Services,
  { principal, via, ip }: Pick<OperationRequest, "principal" | "via" | "ip">,
): Actor {
  const member = requirePeople(services).book.members.get(principal.id);
  const membership = member && { id: member.row.id, teamId: member.team.id, role: member.row.role };
  const about = { id: auditName(principal), via, ip };
  return { ...about, isAdmin: principal.roles.includes("admin"), membership };
}

const text = z.string().max(65_536);
export const paths = z.array(z.string().max(250)).max(100);
/** Values by path: `env.REGION`, `headers.X-Key`, `query.key`, `args`. */
export const values = z
  .record(z.string().max(250), z.union([text, z.array(text).max(100), z.null()]))
  .refine((given) => Object.keys(given).length <= mostValues, `more than ${mostValues} values`);
export const scope = z.enum(["user", "shared", "client"]);
const toolNames = z.array(z.string().max(200)).max(1_000);
export const settings = z.object({
  requestLogging: z.enum(["full", "metadata", "off"]).optional(),
  request_logging_enabled: z.boolean().optional().describe("False is the same as requestLogging off."),
  allow: toolNames.optional().describe("The only tools that are offered."),
  deny: toolNames.optional().describe("Tools that are not offered."),
});

export const missing = z.object({ path: z.string(), tier: z.string() });

export const installation = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    source: z.enum(["file", "db"]),
    template: z.string(),
    transport: z.string(),
    scope: z.string(),
    enabled: z.boolean(),
    locks: z.array(z.string()),
    settings: z.unknown(),
    revision: z.int(),
    missing: z.array(missing).describe("What has to be given before it can be used."),
  })
  .meta({ id: "Installation" });

export const field = z.object({
  path: z.string(),
  tier: z.string().describe("The last one that may give it: template, team or user."),
  type: z.string(),
  required: z.boolean(),
  editable: z.boolean(),
  description: schemas.nullableText,
  choices: z.array(z.string()).nullable(),
  set: z.boolean(),
  value: z.union([z.string(), z.array(z.string()), z.null()]).describe("Null for secrets, which are never shown."),
  updatedAt: schemas.nullableText,
});
export const valueList = z
  .object({
    revision: z.int(),
    address: schemas.nullableText.describe("Where values go: the origin of the server's URL. Null for a program."),
    fields: z.array(field),
  })
  .meta({ id: "ServerValues" });

export function toSettings({
  request_logging_enabled: isLogged,
  requestLogging = isLogged === false ? "off" : undefined,
  ...tools
}: z.output<typeof settings>): InstallationSettings {
  return { ...tools, requestLogging };
}
