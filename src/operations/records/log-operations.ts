import * as z from "zod";
import { logToJson, eventToJson } from "../../records/calls/record-json.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import { levelOf } from "../../records/calls/server-lines.ts";
import { logLevels, type LogLevel, type ServerLogLine } from "../../store/record-rows.ts";
import type { PageQuery } from "../../store/record-store.ts";
import { ownRecords } from "../../engine/policy/rights.ts";
import { countLostLines } from "./log-gaps.ts";
import { filter, followParameter, recordParameters, toPageQuery, toReader } from "./record-query.ts";
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
  ...followParameter,
});

const description = "The newest lines of each instance are kept. Also as `application/x-ndjson` and `text/csv`.";

export const listLogs = operation({
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
  const { level, text, server, limit, follow, newest } = request.query;
  const page = toPageQuery(request.query);
  const reader = toReader(services, request.principal);
  const read = async (part: Partial<PageQuery>) =>
    await services.history.logs(reader, { ...page, level, text, server, instance, ...part });
  // Others would learn from it that instances wrote something that are not theirs.
  const countLost =
    reader.logs === "all" && text === undefined
      ? { countLost: () => countLostLines(services.events, (line) => isAmong(line, server, instance, level)) }
      : {};
  return records<ServerLogLine>({
    name: "logs",
    file: "logs",
    columns: Object.keys(logLine.shape),
    limit,
    before: page.before,
    read,
    toJson: logToJson,
    ...(follow
      ? {
          follow: {
            newest,
            wakenBy: ["mcp.server.logs"],
            events: services.events,
            elsewhere: services.wakeElsewhere,
            read,
            ...countLost,
          },
        }
      : {}),
  });
}

function isAmong(
  line: EventOf<"mcp.server.logs">,
  server: string | undefined,
  instance: string | undefined,
  level: LogLevel | undefined,
): boolean {
  if (server !== undefined && line.server !== server) return false;
  if (instance !== undefined && line.instance !== instance) return false;
  return level === undefined || logLevels.indexOf(levelOf(line)) >= logLevels.indexOf(level);
}

/** What servers wrote to stderr, and sent as log messages. */
export const logOperations: readonly Operation[] = [listLogs, listInstanceLogs];

const recordedEvent = z
  .object({
    id: z.string(),
    time: z.string().describe("ISO 8601."),
    type: z.string(),
    server: schemas.nullableText,
    instance: schemas.nullableText,
    principal: schemas.nullableText,
    data: schemas.json.describe("What the type has beyond that."),
  })
  .meta({ id: "RecordedEvent" });

const eventList = z
  .object({ events: z.array(recordedEvent), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "RecordedEventList" });

/** What happened to an instance before anybody looked. */
export const historyOperations: readonly Operation[] = [
  operation({
    route: "GET /api/instances/{id}/events",
    right: ownRecords,
    params: z.object({ id: schemas.name }),
    query: z.object({ type: filter.describe("Only events of this type."), ...recordParameters }),
    id: "listInstanceEvents",
    tag: "Records",
    summary: "What happened to one instance, newest first",
    responses: answers(eventList, "One page.", [404, 503]),
    async run(services, { principal, params, query }) {
      const asked = { ...toPageQuery(query), type: query.type, instance: params.id };
      const { rows, next } = await services.history.events(toReader(services, principal), asked);
      const events = rows.map((row) => {
        const event = eventToJson(row);
        return { ...event, data: JSON.parse(services.redactJson(event.data)) as object };
      });
      return { events, nextCursor: next === null ? null : String(next) };
    },
  }),
];
