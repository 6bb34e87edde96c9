import { beginEvents } from "./streams/event-response.ts";
import type { ServerResponse } from "node:http";
import * as z from "zod";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import {
  createTypeFilter,
  publishedTypes,
  typesMatching,
  type PublishedEvent,
} from "../../kernel/events/published-events.ts";
import { eventStreamType, eventText, keepAliveText, primeText } from "../../wire/sse/event-text.ts";
import { ownRecords } from "../../engine/policy/rights.ts";
import { type RestDeps, route, type Route } from "./route.ts";
import { answers } from "../../operations/responses.ts";
import type { LiveEvents, LiveReader } from "../../records/events/live-events.ts";
import { asciiText } from "../../wire/json/ascii-json.ts";
import type { Headers } from "./answer.ts";

const tag = "Events";

const query = z.object({
  types: z
    .string()
    .max(2_000)
    .optional()
    .describe("Types, separated by commas. `mcp.server.*` means all that begin so. Without it: all."),
  server: z.string().max(100).optional().describe("Only events of this server, by its slug."),
  instance: z.string().max(500).optional().describe("Only events of this instance."),
  after: z
    .string()
    .max(100)
    .optional()
    .describe("The same as `Last-Event-ID`, for clients that cannot send the header."),
});
const headers = z.object({
  "Last-Event-ID": z.string().optional().describe("The id of the last event that arrived: what came since is sent."),
});

const eventSchema = z
  .object({
    type: z.enum(publishedTypes as [string, ...string[]]),
    time: z.iso.datetime(),
    node: z.string().optional().describe("The node of the cluster where it happened; only where that is another one."),
    server: z.string().nullable(),
    instance: z.string().nullable(),
    installation: z.string().nullable(),
    principal: z.string().nullable(),
    team: z.string().nullable(),
    coalesced: z.int().optional().describe("How many other events of this type it stands for."),
    data: z.record(z.string(), z.unknown()).describe("What the type has beyond that."),
  })
  .meta({ id: "Event" });

/** Events as they happen. */
export function createEventRoutes(deps: RestDeps): readonly Route[] {
  return [followEvents(deps)];
}

function followEvents(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/events",
    right: ownRecords,
    query,
    isStream: true,
    operation: {
      id: "followEvents",
      tag,
      summary: "What happens, as it happens",
      description:
        "Server-sent events: `event` is the type and `data` an Event. The last 1,000 events of the last 5 minutes " +
        "are replayed to a client that comes back with `Last-Event-ID`. An event `reset` says that some are missing, " +
        "and that whatever was read before should be read again. Of more than ten events a second of one instance " +
        "and person, the newest of each type is sent in the next second, with the number of those left out. In a " +
        "cluster it is what happens at all nodes.",
      headers,
      responses: {
        ...answers(eventSchema, "", [429]),
        200: { description: "Each event as JSON.", content: { [eventStreamType]: eventSchema } },
      },
    },
    async handle({ raw, response, principal, query: wanted, headers: common }) {
      const wants = createFilter(wanted);
      if (raw.method === "HEAD") return { headers: { "Content-Type": eventStreamType }, body: "" };
      const { losses } = deps.presence;
      const live = await deps.live();
      if (response.destroyed) return undefined;
      // Rights that were lost while this was loaded are not told any more.
      deps.presence.require(principal, losses);
      const position = raw.headers["last-event-id"] ?? wanted.after;
      openEventFeed(
        live,
        { principal, wants },
        {
          response,
          headers: common,
          position: typeof position === "string" && position !== "" ? position : undefined,
        },
      );
      return undefined;
    },
  });
}

/** Throws PARAMS_INVALID for a type that does not exist. */
function createFilter({ types, server, instance }: z.output<typeof query>): (event: PublishedEvent) => boolean {
  const patterns = types?.split(",").map((pattern) => pattern.trim());
  const unknown = patterns?.find((pattern) => typesMatching(pattern).length === 0);
  if (unknown !== undefined)
    throw new GatewayError("PARAMS_INVALID", `types: there is no event ${JSON.stringify(unknown.slice(0, 100))}`, {
      data: { field: "querystring.types" },
      hint: "GET /openapi.json lists the types.",
    });
  const isWanted = createTypeFilter(patterns);
  return (event) =>
    isWanted(event.type) &&
    (server === undefined || ("server" in event && event.server === server)) &&
    (instance === undefined ||
      ("instance" in event && event.instance === instance) ||
      ("installation" in event && event.installation === instance));
}

interface EventFeedOptions {
  readonly response: ServerResponse;
  readonly headers: Headers;
  /** The last event that the reader has seen. */
  readonly position: string | undefined;
}

/**
 * What may wait for a reader: four lists of a hundred tools, or a thousand other events. One that reads more slowly is
 * left; it comes back and is told what it missed, or that it missed something (fault 26).
 */
const mostWaitingBytes = 1024 * 1024;
/** When a reader whose stream was cut comes back. */
const retryMs = 2_000;

/** Sends events on a response until its reader goes, does not read, or may not read any more. */
function openEventFeed(
  live: Pick<LiveEvents, "follow">,
  { principal, wants }: Pick<LiveReader, "principal" | "wants">,
  { response, headers, position }: EventFeedOptions,
): void {
  const isFull = (): boolean => response.writableLength > mostWaitingBytes;

  function write(text: string): void {
    if (response.destroyed || response.writableEnded) return;
    response.write(text, "latin1");
  }

  function send(text: string): void {
    if (isFull()) response.destroy();
    else write(text);
  }

  beginEvents(response, headers, () => send(keepAliveText));
  const reading = live.follow(
    {
      principal,
      wants,
      onEvent: (type, text, id) => send(eventText(type, asciiText(text), id)),
      isFull,
      onReset: (id) => write(eventText("reset", "{}", id)),
      onEnd: () => response.end(),
    },
    position,
  );
  // A reader who is cut off before the first event can come back to this place.
  write(primeText(reading.position, retryMs));
  response.once("close", () => reading.leave());
}
