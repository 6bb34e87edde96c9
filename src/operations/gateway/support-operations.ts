import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { gatewayReading, gatewayAdmin } from "../../engine/policy/rights.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { cpus, release, totalmem } from "node:os";
import * as z from "zod";
import { callToJson, logToJson } from "../../records/calls/record-json.ts";
import { examineMachine } from "./machine-operations.ts";
import { requireManager } from "../request/manager.ts";
import { toReader } from "../records/record-query.ts";
import { file } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Gateway";

const showInside = operation({
  route: "GET /api/status/debug",
  right: gatewayReading,
  id: "showInside",
  tag,
  summary: "The gateway's inside",
  description: "Only with `debugRoute` (TOOLYARD_DEBUG_ROUTE=true).",
  responses: answers(schemas.json, "Facts for finding faults.", [404]),
  run(services) {
    if (!services.settings().debugRoute)
      throw new GatewayError("ROUTE_UNKNOWN", "there is nothing at this path", {
        hint: "Set toolyard.debugRoute, or TOOLYARD_DEBUG_ROUTE=true.",
      });
    return { version: services.version, ...services.debugFacts() };
  },
});

/** Facts about the gateway for those who run it. */
export const systemOperations: readonly Operation[] = [showInside];

/** Enough to see what went wrong before somebody looked, and little enough to be read through before it is sent. */
const [mostLines, mostCalls] = [200, 100];

const supportBundle = z
  .object({
    made: z.string(),
    system: schemas.json.describe("Version, Node, operating system."),
    status: schemas.json.describe("As `GET /api/status`."),
    settings: z.array(schemas.json).describe("As `GET /api/config/settings`: those that are not the default."),
    doctor: z.array(schemas.json).describe("The findings of `GET /api/doctor`."),
    failedCalls: z.array(schemas.json).nullable().describe("The newest; null where nothing is recorded."),
    logs: z.array(schemas.json).nullable().describe("The newest warnings and errors of servers."),
  })
  .meta({ id: "SupportBundle" });

async function recordsOf(
  services: Services,
  { principal }: Pick<OperationRequest, "principal">,
): Promise<{ readonly failedCalls: readonly object[] | null; readonly logs: readonly object[] | null }> {
  const reader = toReader(services, principal);
  try {
    const calls = await services.history.calls(reader, { limit: mostCalls, failed: true });
    const logs = await services.history.logs(reader, { limit: mostLines, level: "warning" });
    return { failedCalls: calls.rows.map(withoutContents), logs: logs.rows.map(logToJson) };
  } catch (error) {
    if (error instanceof GatewayError && error.code === "STORE_UNAVAILABLE") return { failedCalls: null, logs: null };
    throw error;
  }
}

/** What a tool answered, and what somebody searched for, is not for others. */
function withoutContents(row: Parameters<typeof callToJson>[0]): object {
  return { ...callToJson(row), message: null, ...(row.method === "search" ? { name: "" } : {}) };
}

/** What somebody who helps needs to know of a gateway, in one file. */
export const supportOperations: readonly Operation[] = [
  operation({
    route: "GET /api/support",
    right: gatewayAdmin,
    id: "makeSupportBundle",
    tag: "Gateway",
    summary: "What to send along when something does not work, as one file without secrets",
    description:
      "Known secrets are taken out, and no arguments, results or texts of the configuration are in it. Names of " +
      "servers, people and files are: read it before you send it.",
    responses: answers(supportBundle, "The bundle.", [429, 504]),
    async run(services, request) {
      const management = requireManager(services, request);
      const { principal } = request;
      const { version } = services;
      const doctor = await examineMachine(services, request);
      const settings = await management.settings();
      const bundle = {
        made: new Date(services.clock.now()).toISOString(),
        system: {
          ...{ toolyard: version, node: process.version, platform: process.platform, release: release() },
          ...{ arch: process.arch, processors: cpus().length, memoryBytes: totalmem() },
        },
        status: await services.status({ principal, isAdmin: true }),
        settings: settings.filter(({ from }) => from !== "default"),
        doctor,
        ...(await recordsOf(services, request)),
      };
      // Whatever part a secret came in by.
      const safe: unknown = JSON.parse(services.redactJson(bundle));
      return file("toolyard-support.json", safe);
    },
  }),
];
