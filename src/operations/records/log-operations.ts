import * as z from "zod";
import { logToJson } from "../../records/calls/record-json.ts";
import { logLevels } from "../../store/record-rows.ts";
import { ownRecords } from "../../engine/policy/rights.ts";
import { filter, recordParameters, toPageQuery, toReader } from "./record-query.ts";
import { answers, withExports } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { records, type Reply } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Records";

const logLine = z
  .object({
    id: z.string(),
    time: z.string().describe("ISO 8601."),
    team: schemas.nullableText,
    server: z.string(),
    instance: z.string(),
    level: z.enum(logLevels).describe("As the server says, or guessed from what it wrote to stderr."),
    line: z.string(),
  })
  .meta({ id: "LogLine" });

const logList = z
  .object({ logs: z.array(logLine), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "LogList" });

const logQuery = z.object({
  level: z.enum(logLevels).optional().describe("This level and worse."),
  text: z
    .string()
    .max(200)
    .optional()
    .describe("Lines that contain this, whatever the case of its letters; in SQLite, of A to Z alone."),
  ...recordParameters,
});

const description = "The newest lines of each instance are kept. Also as `application/x-ndjson` and `text/csv`.";

const listLogs = operation({
  route: "GET /api/logs",
  right: ownRecords,
  query: logQuery.extend({ server: filter, instance: filter }),
  id: "listLogs",
  tag,
  summary: "What your servers wrote, newest first",
  description,
  responses: withExports(answers(logList, "One page.", [404, 503])),
  run: (services, request) => answerLogs(services, request, request.query.instance),
});

const listInstanceLogs = operation({
  route: "GET /api/instances/{id}/logs",
  right: ownRecords,
  params: z.object({ id: schemas.name }),
  query: logQuery,
  id: "listInstanceLogs",
  tag,
  summary: "What one instance wrote, newest first",
  description,
  responses: withExports(answers(logList, "One page.", [404, 503])),
  run: (services, request) => answerLogs(services, request, request.params.id),
});

type LogRequest = OperationRequest<unknown, z.output<typeof logQuery> & { readonly server?: string | undefined }>;

function answerLogs(services: Services, request: LogRequest, instance: string | undefined): Reply {
  const { level, text, server, limit } = request.query;
  const page = toPageQuery(request.query);
  const reader = toReader(services, request.principal);
  return records({
    name: "logs",
    file: "logs",
    columns: Object.keys(logLine.shape),
    limit,
    before: page.before,
    read: async (part) => await services.history.logs(reader, { ...page, level, text, server, instance, ...part }),
    toJson: logToJson,
  });
}

/** What servers wrote to stderr, and sent as log messages. */
export const logOperations: readonly Operation[] = [listLogs, listInstanceLogs];
