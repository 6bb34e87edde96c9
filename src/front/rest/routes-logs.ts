import * as z from "zod";
import { logToJson } from "../../records/calls/record-json.ts";
import { logLevels } from "../../store/record-rows.ts";
import type { Answer } from "./answer.ts";
import { ownRecords } from "../../engine/policy/rights.ts";
import type { RestDeps } from "./deps.ts";
import { answerRecords } from "./record-export.ts";
import { filter, recordParameters, toPageQuery, toReader } from "./record-query.ts";
import { answers, withExports } from "./responses.ts";
import { route, type RestRequest, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

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

/** What servers wrote to stderr, and sent as log messages. */
export function createLogRoutes(deps: RestDeps): readonly Route[] {
  return [listLogs(deps), listInstanceLogs(deps)];
}

const description = "The newest lines of each instance are kept. Also as `application/x-ndjson` and `text/csv`.";

function listLogs(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/logs",
    right: ownRecords,
    query: logQuery.extend({ server: filter, instance: filter }),
    operation: {
      id: "listLogs",
      tag,
      summary: "What your servers wrote, newest first",
      description,
      responses: withExports(answers(logList, "One page.", [404, 503])),
    },
    handle: async (request) => await answerLogs(deps, request, request.query.instance),
  });
}

function listInstanceLogs(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/instances/{id}/logs",
    right: ownRecords,
    params: z.object({ id: schemas.name }),
    query: logQuery,
    operation: {
      id: "listInstanceLogs",
      tag,
      summary: "What one instance wrote, newest first",
      description,
      responses: withExports(answers(logList, "One page.", [404, 503])),
    },
    handle: async (request) => await answerLogs(deps, request, request.params.id),
  });
}

type LogRequest = RestRequest<unknown, z.output<typeof logQuery> & { readonly server?: string | undefined }>;

async function answerLogs(
  deps: RestDeps,
  request: LogRequest,
  instance: string | undefined,
): Promise<Answer | undefined> {
  const { level, text, server, limit } = request.query;
  const page = toPageQuery(request.query);
  const reader = toReader(deps, request.principal);
  return await answerRecords(deps, request, {
    name: "logs",
    file: "logs",
    columns: Object.keys(logLine.shape),
    limit,
    before: page.before,
    read: async (part) => await deps.history.logs(reader, { ...page, level, text, server, instance, ...part }),
    toJson: logToJson,
  });
}
