import * as z from "zod";
import { ownRecords } from "../../engine/policy/rights.ts";
import { eventToJson } from "../../records/calls/record-json.ts";
import { filter, recordParameters, toPageQuery, toReader } from "./record-query.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

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
