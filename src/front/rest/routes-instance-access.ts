import * as z from "zod";
import { instanceStatuses } from "../../kernel/status.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { ownCredentials, reading, usingServers } from "../../engine/policy/rights.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { eventStreamType } from "../../wire/sse/event-text.ts";
import { jsonAnswer } from "./answer.ts";
import type { RestDeps } from "./deps.ts";
import { findInstance, findVisibleInstance } from "./own-instance.ts";
import { doneAnswer, noStore, senderOf } from "./people-request.ts";
import { done } from "./people-schemas.ts";
import { readsNothing } from "./event-feed.ts";
import { answers } from "./responses.ts";
import { route, type RestRequest, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { openStatusStream, readStatus } from "./status-stream.ts";

const tag = "Servers and instances";
const params = z.object({ id: schemas.name });

const login = z
  .object({
    instance: z.string(),
    takesLogin: z.boolean().describe("Whether its server can be logged in at."),
    hasLogin: z.boolean(),
    isShared: z.boolean().describe("Whether one login is for everybody who uses it."),
    mayLogIn: z.boolean().describe("Whether whoever asks decides on that login."),
    url: schemas.nullableText.describe("The page where its person logs in; null in a gateway without such pages."),
  })
  .meta({ id: "InstanceLogin" });

const connectPage = z
  .object({
    url: z.string().describe("Opened in a browser in which the same person is logged in, and nobody else."),
    status: z.enum(instanceStatuses),
    hasLogin: z.boolean(),
  })
  .meta({ id: "ConnectPage" });

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

/** Logging in at the servers behind instances, and their statuses as they change. */
export function createInstanceAccessRoutes(deps: RestDeps): readonly Route[] {
  return [connect(deps), showLogin(deps), removeLogin(deps), followStatus(deps)];
}

function connect(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/instances/{id}/connect",
    right: usingServers,
    params,
    operation: {
      id: "connectInstance",
      tag,
      summary: "Where the instance's person logs in at its server, and gives values of their own",
      description:
        "The login begins there and ends there, in a browser of that person: whoever is sent the address by somebody " +
        "else can do nothing with it.",
      responses: answers(connectPage, "The address of the page.", [404, 409, 415]),
    },
    async handle(request) {
      const { principal, params: asked } = request;
      const instance = findInstance(deps, principal, asked.id);
      const url = deps.serverLogins.pageOf(instance.id);
      if (url === undefined || principal.user === null)
        throw new GatewayError("PEOPLE_CONFLICT", "only people of the database log in at servers with a page", {
          hint: `\`toolyard login ${instance.server.slug}\` logs in on the machine of the gateway.`,
        });
      requireDeciding(deps, principal, instance);
      await note(deps, request, { action: "server.connect.begin", object: instance.id });
      const { hasLogin } = await deps.serverLogins.of(instance);
      return jsonAnswer({ url, status: instance.status, hasLogin }, noStore);
    },
  });
}

function showLogin(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/instances/{id}/login",
    right: reading,
    params,
    operation: {
      id: "showInstanceLogin",
      tag,
      summary: "Whether somebody is logged in at the server of an instance",
      responses: answers(login, "Never what the server gave out.", [404]),
    },
    async handle({ principal, params: { id } }) {
      const instance = findInstance(deps, principal, id);
      const { takesLogin, hasLogin } = await deps.serverLogins.of(instance);
      const about = { instance: instance.id, takesLogin, hasLogin, isShared: instance.owner === null };
      const mayLogIn = deps.serverLogins.mayDecide(principal, instance);
      return jsonAnswer({ ...about, mayLogIn, url: deps.serverLogins.pageOf(instance.id) ?? null }, noStore);
    },
  });
}

function removeLogin(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/instances/{id}/login",
    right: ownCredentials,
    params,
    operation: {
      id: "removeInstanceLogin",
      tag,
      summary: "Log out at the server of an instance",
      description: "Tells the authorization server, where it wants to know.",
      responses: answers(done, "Nobody is logged in there any more.", [404, 409, 415]),
    },
    async handle(request) {
      const { principal, params: asked } = request;
      const instance = findInstance(deps, principal, asked.id);
      requireDeciding(deps, principal, instance);
      await note(deps, request, { action: "server.disconnect", object: instance.id });
      if (!(await deps.serverLogins.logOut(instance)))
        throw new GatewayError("PEOPLE_CONFLICT", "nobody is logged in at that server", { hint: "" });
      return doneAnswer();
    },
  });
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
        "Server-sent events: `status` with an InstanceStanding, at once and with every change. `gone` is the last one " +
        "of an instance that is not there any more, or not for whoever asks. Admins of a team see those of its members.",
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
        // A reader of nothing, which ends when whoever it is for may not read any more.
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

/** Throws FORBIDDEN: a login that all share is a decision of whoever runs the team. */
function requireDeciding(deps: RestDeps, principal: Principal, instance: Instance): void {
  if (!deps.serverLogins.mayDecide(principal, instance))
    throw new GatewayError("FORBIDDEN", "this login is shared: only an admin may do that");
}

async function note(
  deps: RestDeps,
  request: RestRequest,
  about: { readonly action: string; readonly object: string },
): Promise<void> {
  const { id: actor, via, ip } = senderOf(request);
  await deps.audit.order({ actor, via, ip, team: request.principal.team, ...about });
}
