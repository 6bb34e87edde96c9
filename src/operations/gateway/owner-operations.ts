import * as z from "zod";
import { dataOwner, gatewayReading } from "../../engine/policy/rights.ts";
import { requireOwner } from "../request/manager.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

const tag = "Gateway";

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
