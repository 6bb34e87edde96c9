import { beginEvents } from "./streams/event-response.ts";
import type { ServerResponse } from "node:http";
import * as z from "zod";
import { instanceStatuses } from "../../kernel/status-words.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { reading } from "../../engine/policy/rights.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { findVisibleInstance } from "../../operations/servers/own-instance.ts";
import { answers } from "../../operations/responses.ts";
import * as schemas from "../../operations/schemas.ts";
import { eventStreamType, eventText, keepAliveText } from "../../wire/sse/event-text.ts";
import { type RestDeps, route, type Route } from "./route.ts";
import { readsNothing } from "../../records/events/live-events.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { Headers } from "./answer.ts";

const tag = "Servers and instances";
const params = z.object({ id: schemas.name });

const standing = z
  .object({
    instance: z.string(),
    server: z.string(),
    status: z.enum(instanceStatuses),
    dormant: z.boolean(),
    reason: z.string(),
  })
  .meta({ id: "InstanceStanding" });

const statusQuery = z.object({
  until: z
    .string()
    .max(500)
    .optional()
    .describe("Statuses, separated by commas: the stream ends when the instance has one of them. `online,error`."),
});

/** The status of an instance as it changes. */
export function createInstanceStatusRoutes(deps: RestDeps): readonly Route[] {
  return [followStatus(deps)];
}

function followStatus(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/instances/{id}/status",
    right: reading,
    params,
    query: statusQuery,
    isStream: true,
    operation: {
      id: "followInstanceStatus",
      tag,
      summary: "The status of one instance, now and whenever it changes",
      description:
        "Server-sent events: `status` with an InstanceStanding, at once and with every change. `gone` is the last " +
        "one of an instance that was removed, or that the caller may no longer see. Admins of a team see those of " +
        "its members.",
      responses: {
        ...answers(standing, "", [404, 429]),
        200: { description: "Each as JSON.", content: { [eventStreamType]: standing } },
      },
    },
    async handle({ raw, response, principal, params: { id }, query, headers }) {
      const until = readStatuses(query.until);
      const find = (): Instance => findVisibleInstance(deps, principal, id);
      const first = find();
      if (raw.method === "HEAD") return { headers: { "Content-Type": eventStreamType }, body: "" };
      const { losses } = deps.presence;
      const live = await deps.live();
      if (response.destroyed) return undefined;
      deps.presence.require(principal, losses);
      openStatusStream({
        ...{ response, headers, until },
        read() {
          try {
            return readStatus(find(), deps.redact);
          } catch {
            return undefined;
          }
        },
        onChange: (listener) => deps.onStatus((instance) => (instance === first.id ? listener() : undefined)),
        // A subscriber without events: it exists so that losing the right to read closes the stream.
        onGone: (onEnd) => live.follow({ ...readsNothing, principal, onEnd }, undefined).leave,
      });
      return undefined;
    },
  });
}

/** Throws PARAMS_INVALID for a status that does not exist. */
function readStatuses(text: string | undefined): ReadonlySet<string> {
  const given = text === undefined || text === "" ? [] : text.split(",").map((status) => status.trim());
  const unknown = given.find((status) => !instanceStatuses.some((known) => known === status));
  if (unknown !== undefined)
    throw new GatewayError("PARAMS_INVALID", `until: there is no status ${JSON.stringify(unknown.slice(0, 100))}`, {
      data: { field: "querystring.until" },
      hint: `They are ${instanceStatuses.join(", ")}.`,
    });
  return new Set(given);
}

/** The state of an instance. */
interface StatusLine {
  readonly instance: string;
  readonly server: string;
  readonly status: string;
  readonly dormant: boolean;
  readonly reason: string;
}

interface StatusStreamOptions {
  readonly response: ServerResponse;
  readonly headers: Headers;
  /** The stream ends with one of these; none: it goes on. */
  readonly until: ReadonlySet<string>;
  /** Undefined when it is not there any more, or not for this reader. */
  readonly read: () => StatusLine | undefined;
  /** Calls back when something may have changed. Returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
  /** Calls `end` when the reader may not read any more. Returns what ends that. */
  readonly onGone: (end: () => void) => () => void;
}

/** Of a reader that does not read: some hundred statuses. It can ask again, and knows the status then. */
const mostWaitingBytes = 64 * 1024;

function readStatus(instance: Instance, redact: (text: string) => string): StatusLine {
  const { status, dormant, reason } = instance.statusView();
  return { instance: instance.id, server: instance.server.slug, status, dormant, reason: redact(reason) };
}

/** Sends the status of one instance on a response, now and whenever it is another one. */
function openStatusStream(options: StatusStreamOptions): void {
  const { response, headers, until, read, onChange, onGone } = options;
  let last = "";

  function write(text: string): void {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > mostWaitingBytes) response.destroy();
    else response.write(text, "latin1");
  }

  function tell(): void {
    const line = read();
    if (line === undefined) {
      write(eventText("gone", "{}"));
      response.end();
      return;
    }
    const text = asciiJson(line);
    if (text !== last) write(eventText("status", text));
    last = text;
    if (until.has(line.status)) response.end();
  }

  // One that was taken away changes its status no more.
  beginEvents(response, headers, () => {
    write(keepAliveText);
    tell();
  });
  const stopListening = onChange(tell);
  const stopWaiting = onGone(() => response.end());
  response.once("close", () => {
    stopListening();
    stopWaiting();
  });
  tell();
}
