import { isAbsolute } from "node:path";
import * as z from "zod";
import { dataOwner, gatewayReading, gatewayUpkeep } from "../../engine/policy/rights.ts";
import { auditName } from "../../kernel/principal.ts";
import { actorOf } from "../installations/install-request.ts";
import { requirePeople } from "../request/people-request.ts";
import { answers } from "../responses.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Services } from "../services.ts";
import { requireOwner } from "../request/manager.ts";
import * as schemas from "../schemas.ts";

const tag = "Gateway";
const rotation = z.object({ data: z.boolean().optional().describe("Also encrypt every secret again.") });
const rotated = z.object({ teams: z.int(), secrets: z.int() }).meta({ id: "RotatedKeys" });
const recentOnly = "Takes a login with a browser of the last 15 minutes; a token does not do.";

const databaseList = z
  .object({
    ok: z.boolean(),
    databases: z.array(
      z.object({
        database: z.enum(["state", "records"]),
        place: z.string().describe("The file, or the server's name without a password."),
        engine: z.string(),
        bytes: z.int(),
        schema: z.string().nullable().describe("The newest step of its schema."),
        steps: z.array(z.string()),
        faults: z.array(z.string()).describe("One sentence each; none where it is in order."),
      }),
    ),
  })
  .meta({ id: "DatabaseList" });

export const checkDatabases = operation({
  route: "GET /api/system/db",
  right: gatewayUpkeep,
  id: "checkDatabases",
  tag,
  summary: "Look through the databases",
  description: `Reads all pages of both, so that it takes a while. ${recentOnly}`,
  responses: answers(databaseList, "What they are, and their faults.", [503]),
  async run(services, request) {
    await noteUpkeep(services, request, "state.check");
    const databases = (await services.upkeep.check()).map((check) => ({
      ...check,
      schema: check.steps.at(-1) ?? null,
    }));
    return { ok: databases.every(({ faults }) => faults.length === 0), databases };
  },
});

export const rotateKeys = operation({
  route: "POST /api/system/keys/rotate",
  right: gatewayUpkeep,
  id: "rotateKeys",
  tag,
  summary: "Make a new key for the secrets of all teams",
  description: recentOnly,
  body: rotation,
  responses: answers(rotated, "How much was encrypted again.", [415, 503]),
  async run(services, request) {
    const { data = false } = request.body;
    const { installs } = requirePeople(services);
    return await installs.secrets.rotate(actorOf(services, request), data);
  },
});

export const writeBackup = operation({
  route: "PUT /api/system/backup",
  right: dataOwner,
  id: "writeBackup",
  tag,
  summary: "Write people, rights, sealed secrets and the audit to a file",
  description: "By the gateway's owner alone, with a command on its machine.",
  body: z.object({ path: z.string().min(1).max(4_096).describe("Absolute, on the gateway's machine.") }),
  responses: answers(z.object({ bytes: z.int() }), "How large it is.", [415, 503]),
  async run(services, request) {
    const { path } = request.body;
    if (!isAbsolute(path))
      throw new GatewayError("PARAMS_INVALID", "body.path: is not absolute", { data: { field: "body.path" } });
    // Before it is written: the backup tells of itself.
    await noteUpkeep(services, request, "state.backup", path);
    const { bytes } = await services.upkeep.backupTo(path);
    return { bytes };
  },
});

export async function noteUpkeep(
  services: Pick<Services, "audit">,
  { principal, via, ip }: Pick<OperationRequest, "principal" | "via" | "ip">,
  action: string,
  object = "",
): Promise<void> {
  await services.audit.order({ actor: auditName(principal), team: principal.team, via, action, object, ip });
}

/** What concerns everything that the gateway keeps. */
export const databaseOperations: readonly Operation[] = [checkDatabases, rotateKeys, writeBackup];

const dashboardLink = z
  .object({ path: z.string().describe("Of the dashboard, with a code that logs one browser in, within five minutes.") })
  .meta({ id: "DashboardLink" });

const configDrift = z
  .object({
    file: schemas.nullableText,
    refused: schemas.nullableText.describe("Why the file cannot be used as it is; null when it can."),
    differences: z
      .array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown(), needsRestart: z.boolean() }))
      .describe("The values of the file that are not in force, without secrets. Empty when it is refused."),
  })
  .meta({ id: "ConfigDrift" });

const connections = z
  .object({
    clients: z.array(
      z.object({
        client: schemas.nullableText.describe("As it names itself; untrusted."),
        principal: schemas.nullableText,
        endpoint: schemas.nullableText,
        revision: schemas.nullableText,
        idleMs: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: "ClientConnections" });

export const makeDashboardLink = operation({
  route: "POST /api/dashboard-links",
  right: dataOwner,
  id: "makeDashboardLink",
  tag,
  summary: "A link to the dashboard that logs a browser in",
  description: "By the gateway's owner alone, with a command on its machine.",
  responses: answers(dashboardLink, "The link.", [415]),
  run: (services) => ({ path: services.dashboardLink() }),
});

export const compareConfig = operation({
  route: "GET /api/config/drift",
  right: gatewayReading,
  id: "compareConfig",
  tag: "Configuration",
  summary: "The values of the configuration file that are not in force",
  responses: answers(configDrift, "The differences, without secrets."),
  async run(services, request) {
    requireOwner(services, request);
    return await services.configDrift();
  },
});

export const listConnections = operation({
  route: "GET /api/connections",
  right: gatewayReading,
  id: "listConnections",
  tag,
  summary: "MCP clients that are connected now",
  responses: answers(connections, "Each session, and each program that uses the gateway without one."),
  run: (services) => ({ clients: [...services.connections()] }),
});

/** What commands on the gateway's machine ask for, most of which admins may ask for, too. */
export const ownerOperations: readonly Operation[] = [makeDashboardLink, compareConfig, listConnections];
