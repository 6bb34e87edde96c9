import * as z from "zod";
import { transportKinds } from "../../config/entry/transports.ts";
import { instanceStatuses } from "../../kernel/status-words.ts";
import { gatewayReading, ownRecords } from "../../engine/policy/rights.ts";
import { nextSteps } from "../../records/server-standing.ts";
import { storeProblemKinds } from "../../store/record-store.ts";
import { databaseNames } from "../../store/store-upkeep.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { tokenSum } from "./usage-operations.ts";

const ofDay = z.int().describe("Of 24 hours.");

const serverStatus = z
  .object({
    server: z.string(),
    instance: z.string(),
    owner: schemas.nullableText.describe("Null where it is shared."),
    title: z.string(),
    category: schemas.nullableText.describe("Of its entry."),
    status: z.enum(instanceStatuses),
    dormant: z.boolean().describe("Whether a call starts it."),
    word: z.string().describe("The status in words for people."),
    reason: z.string(),
    since: schemas.nullableText,
    retryAt: schemas.nullableText.describe("When it is tried again."),
    next: z
      .object({ step: z.enum(nextSteps), text: z.string(), command: schemas.nullableText })
      .nullable()
      .describe("What to do about it."),
    transport: z.enum(transportKinds),
    era: z.enum(["legacy", "modern"]).nullable().describe("Of the protocol; null while there is no connection."),
    revision: schemas.nullableText,
    tools: z.int(),
    tokens: z.int().describe("What its tools cost in a flat list."),
    tokensExact: z.boolean().describe("Whether all of them were counted; otherwise `tokens` has estimates in it."),
    calls: ofDay,
    errors: ofDay,
    p95Ms: z.number().nullable().describe("The upper bound of the bucket in which it lies."),
    memoryBytes: z.int().nullable().describe("Resident, of its process and all that this started."),
    pid: z.int().nullable(),
    replicas: z
      .object({
        of: z.int(),
        up: z.int().describe("Those that take calls."),
        inFlight: z.int().describe("Calls that they have not answered yet."),
      })
      .nullable()
      .describe("Of a server with several processes or addresses, or a breaker, while it is connected."),
    node: schemas.nullableText.describe("The node of the cluster that runs it; null in a gateway that is alone."),
    oddities: schemas.oddities,
  })
  .meta({ id: "ServerStatus" });

const storeStanding = z
  .object({
    status: z.enum(["off", "opening", "ready", "degraded", "closed", "failed"]),
    problems: z.array(
      z.object({
        database: z.enum(databaseNames).nullable().describe("Null for both."),
        kind: z.enum(storeProblemKinds),
        message: z.string(),
        hint: z.string(),
      }),
    ),
    waitingRows: z.int().describe("Rows that are not written yet."),
    droppedRows: z.int().describe("Rows that were lost since the start."),
  })
  .meta({ id: "StoreStanding" });

const gatewayStatus = z
  .object({
    version: z.string(),
    startedAt: z.string(),
    uptimeMs: z.int(),
    pid: z.int().nullable(),
    configFile: schemas.nullableText,
    configProblem: schemas.nullableText.describe("Why the file, as it is now, is not in force."),
    addresses: z.array(z.string()),
    restart: schemas.nullableText.describe("Why it should be restarted."),
    unready: schemas.nullableText.describe("Why `/readyz` says no."),
    store: storeStanding,
    counts: z.object({
      servers: z.int(),
      tools: z.int(),
      calls: ofDay,
      errors: ofDay,
      byStatus: z.record(z.string(), z.int()).describe("Instances by status; those that a call starts: `dormant`."),
    }),
    servers: z.array(serverStatus),
  })
  .meta({ id: "GatewayStatus" });

export const showStatus = operation({
  route: "GET /api/status",
  right: ownRecords,
  id: "showStatus",
  tag: "Gateway",
  summary: "How the gateway is, and each server",
  description:
    "An admin sees the instances of all people. Others see theirs and the shared ones, and nothing of the " +
    "process, its files and its addresses.",
  responses: answers(gatewayStatus, "The status now."),
  async run(services, { principal }) {
    const isAdmin = services.isOpen() || principal.roles.includes("admin");
    return await services.status({ principal, isAdmin });
  },
});

const activity = z
  .object({
    status: gatewayStatus,
    pending: z
      .array(z.object({ server: z.string(), method: z.string(), name: schemas.nullableText, runningMs: z.int() }))
      .describe("Requests of clients that servers work on."),
    saved: z
      .object({ sessions: z.int(), unknown: z.int(), tokens: z.int(), isExact: z.boolean() })
      .describe("What today's conversations did not have to read; of `unknown` ones it cannot be said."),
    here: tokenSum.describe("What the list of `/mcp` costs a model."),
    flat: tokenSum.describe("What a list of every tool would cost."),
  })
  .meta({ id: "Activity" });

export const showActivity = operation({
  route: "GET /api/status/activity",
  right: gatewayReading,
  id: "showActivity",
  tag: "Gateway",
  summary: "How the gateway is, and what goes on at this moment",
  responses: answers(activity, "What a screen shows that is drawn again and again."),
  run: async (services) => await services.activity(),
});

/** The state of the gateway. */
export const statusOperations: readonly Operation[] = [showStatus, showActivity];
