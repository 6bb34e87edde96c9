import * as z from "zod";
import { instanceStatuses } from "../../kernel/status-words.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { ownCredentials, reading, usingServers } from "../../engine/policy/rights.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { findInstance } from "./own-instance.ts";
import { senderOf } from "../request/people-request.ts";
import { done as doneShape } from "../people/people-schemas.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { done } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Servers and instances";
const params = z.object({ id: schemas.name });

const login = z
  .object({
    instance: z.string(),
    takesLogin: z.boolean().describe("Whether its server can be logged in at."),
    hasLogin: z.boolean(),
    isShared: z.boolean().describe("Whether one login is for everybody who uses it."),
    mayLogIn: z.boolean().describe("Whether the caller decides on that login."),
    url: schemas.nullableText.describe("The page where its person logs in; null in a gateway without such pages."),
  })
  .meta({ id: "InstanceLogin" });

const connectPage = z
  .object({
    url: z.string().describe("Opened in a browser in which that person, and no one else, is logged in."),
    status: z.enum(instanceStatuses),
    hasLogin: z.boolean(),
  })
  .meta({ id: "ConnectPage" });

export const connect = operation({
  route: "POST /api/instances/{id}/connect",
  right: usingServers,
  params,
  id: "connectInstance",
  tag,
  summary: "Where the instance's person logs in at its server, and gives values of their own",
  description:
    "The login begins there and ends there, in a browser of that person: others who are sent " +
    "the address can do nothing with it.",
  responses: answers(connectPage, "The address of the page.", [404, 409, 415]),
  async run(services, request) {
    const { principal, params: asked } = request;
    const instance = findInstance(services, principal, asked.id);
    const url = services.serverLogins.pageOf(instance.id);
    if (url === undefined || principal.user === null)
      throw new GatewayError("PEOPLE_CONFLICT", "only people of the database log in at servers with a page", {
        hint: `\`toolyard login ${instance.server.slug}\` logs in on the machine of the gateway.`,
      });
    requireDeciding(services, principal, instance);
    await note(services, request, { action: "server.connect.begin", object: instance.id });
    const { hasLogin } = await services.serverLogins.of(instance);
    return { url, status: instance.status, hasLogin };
  },
});

export const showLogin = operation({
  route: "GET /api/instances/{id}/login",
  right: reading,
  params,
  id: "showInstanceLogin",
  tag,
  summary: "Whether somebody is logged in at the server of an instance",
  responses: answers(login, "Never what the server gave out.", [404]),
  async run(services, { principal, params: { id } }) {
    const instance = findInstance(services, principal, id);
    const { takesLogin, hasLogin } = await services.serverLogins.of(instance);
    const about = { instance: instance.id, takesLogin, hasLogin, isShared: instance.owner === null };
    const mayLogIn = services.serverLogins.mayDecide(principal, instance);
    return { ...about, mayLogIn, url: services.serverLogins.pageOf(instance.id) ?? null };
  },
});

export const removeLogin = operation({
  route: "DELETE /api/instances/{id}/login",
  right: ownCredentials,
  params,
  id: "removeInstanceLogin",
  tag,
  summary: "Log out at the server of an instance",
  description: "Tells the authorization server, where it wants to know.",
  responses: answers(doneShape, "Nobody is logged in there any more.", [404, 409, 415]),
  async run(services, request) {
    const { principal, params: asked } = request;
    const instance = findInstance(services, principal, asked.id);
    requireDeciding(services, principal, instance);
    await note(services, request, { action: "server.disconnect", object: instance.id });
    if (!(await services.serverLogins.logOut(instance)))
      throw new GatewayError("PEOPLE_CONFLICT", "nobody is logged in at that server", { hint: "" });
    return done;
  },
});

/** Throws FORBIDDEN: a shared login is a decision of those who run the team. */
function requireDeciding(services: Services, principal: Principal, instance: Instance): void {
  if (!services.serverLogins.mayDecide(principal, instance))
    throw new GatewayError("FORBIDDEN", "this login is shared: only an admin may do that");
}

async function note(
  services: Services,
  request: OperationRequest,
  about: { readonly action: string; readonly object: string },
): Promise<void> {
  const { id: actor, via, ip } = senderOf(request);
  await services.audit.order({ actor, via, ip, team: request.principal.team, ...about });
}

/** Logging in at the servers behind instances. */
export const instanceLoginOperations: readonly Operation[] = [connect, showLogin, removeLogin];
