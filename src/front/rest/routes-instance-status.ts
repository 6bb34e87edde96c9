import * as z from "zod";
import { instanceStatuses } from "../../kernel/status-words.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { reading } from "../../engine/policy/rights.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { findVisibleInstance } from "../../operations/servers/own-instance.ts";
import { answers } from "../../operations/responses.ts";
import * as schemas from "../../operations/schemas.ts";
import { eventStreamType } from "../../wire/sse/event-text.ts";
import { type RestDeps, route, type Route } from "./route.ts";
import { readsNothing } from "../../records/events/live-events.ts";
import { openStatusStream, readStatus } from "./streams/status-stream.ts";

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
