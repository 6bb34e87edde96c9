import * as z from "zod";
import { gatewayAdmin, ownCredentials } from "../../engine/policy/rights.ts";
import type { AppLine, SessionLine } from "../../people/authorization-server/user-access.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { requirePeople, senderOf, toIso } from "../request/people-request.ts";
import { done as doneShape } from "./people-schemas.ts";
import { answers } from "../responses.ts";
import { findUser } from "./user-operations.ts";
import * as schemas from "../schemas.ts";
import { operation, type OpenRequest, type Operation } from "../operation.ts";
import { done } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "People";
const time = z.iso.datetime();

const app = z
  .object({
    id: z.string(),
    name: z.string().describe("As the app names itself; unverified."),
    client: z.string().describe("Its id at the authorization server, or the address of its document."),
    user: z.string(),
    team: z.string(),
    scopes: z.array(z.string()),
    audience: z.array(z.string()).describe("The addresses that it may use."),
    created: time,
    used: time.describe("The hour in which it was last renewed."),
    expires: time,
  })
  .meta({ id: "ConnectedApp" });

const session = z
  .object({
    id: z.string(),
    user: z.string(),
    via: z.string().describe("`password`, or the identity provider."),
    browser: z.string().describe("What it says of itself, as `Firefox on Linux`; empty where that is not known."),
    isThis: z.boolean().describe("Whether the request came from it."),
    created: time,
    seen: time,
    expires: time,
  })
  .meta({ id: "BrowserLoginSession" });

const appList = z.object({ apps: z.array(app) }).meta({ id: "ConnectedAppList" });
const logins = z.object({ sessions: z.array(session) }).meta({ id: "BrowserLoginList" });
const ended = z.object({ ended: z.int() }).meta({ id: "EndedBrowserLogins" });

const ofUser = z.object({ id: schemas.name });
const oneOfUser = ofUser.extend({ item: schemas.name });
const byUser = z.object({ user: schemas.name.optional().describe("Only those of this user: a name or an id.") });

const listOwnApps = operation({
  route: "GET /api/me/apps",
  right: ownCredentials,
  id: "listMyApps",
  tag,
  summary: "Apps that act for you, in all of your teams",
  responses: answers(appList, "Without their tokens, which are not kept."),
  run: (services, { principal }) => showApps(services, userOf(principal)),
});

const revokeOwnApp = operation({
  route: "DELETE /api/me/apps/{id}",
  params: ofUser,
  right: ownCredentials,
  id: "revokeMyApp",
  tag,
  summary: "Take an app's access back",
  description: "Ends its streams and calls at once. The app has to ask again.",
  responses: answers(doneShape, "It has no access any more.", [404]),
  run: async (services, request) => await revokeApp(services, request, request.params.id, userOf(request.principal)),
});

const listOwnSessions = operation({
  route: "GET /api/me/sessions",
  right: ownCredentials,
  id: "listMySessions",
  tag,
  summary: "Browsers that you are logged in with",
  responses: answers(logins, "Without their cookies, which are not kept."),
  run: (services, request) => showSessions(services, request, userOf(request.principal)),
});

const endOwnSession = operation({
  route: "DELETE /api/me/sessions/{id}",
  params: ofUser,
  right: ownCredentials,
  id: "endMySession",
  tag,
  summary: "Log one of your browsers out",
  responses: answers(doneShape, "It is logged out.", [404]),
  run: async (services, request) => await endSession(services, request, request.params.id, userOf(request.principal)),
});

const listUserApps = operation({
  route: "GET /api/users/{id}/apps",
  params: ofUser,
  right: gatewayAdmin,
  id: "listUserApps",
  tag,
  summary: "Apps that act for a user",
  responses: answers(appList, "Those of all teams.", [404]),
  run: (services, { params }) => showApps(services, idOf(services, params.id)),
});

const revokeUserApp = operation({
  route: "DELETE /api/users/{id}/apps/{item}",
  params: oneOfUser,
  right: gatewayAdmin,
  id: "revokeUserApp",
  tag,
  summary: "Take the access of a user's app back",
  responses: answers(doneShape, "It has no access any more.", [404]),
  async run(services, request) {
    const { id, item } = request.params;
    return await revokeApp(services, request, item, idOf(services, id));
  },
});

const listUserSessions = operation({
  route: "GET /api/users/{id}/sessions",
  params: ofUser,
  right: gatewayAdmin,
  id: "listUserSessions",
  tag,
  summary: "Browsers that a user is logged in with",
  responses: answers(logins, "All of them.", [404]),
  run: (services, request) => showSessions(services, request, idOf(services, request.params.id)),
});

const endUserSessions = operation({
  route: "DELETE /api/users/{id}/sessions",
  params: ofUser,
  right: gatewayAdmin,
  id: "endUserSessions",
  tag,
  summary: "Log a user out of every browser",
  responses: answers(ended, "How many there were.", [404]),
  async run(services, request) {
    const { access } = requirePeople(services);
    return { ended: await access.endSessions(senderOf(request), idOf(services, request.params.id)) };
  },
});

const endUserSession = operation({
  route: "DELETE /api/users/{id}/sessions/{item}",
  params: oneOfUser,
  right: gatewayAdmin,
  id: "endUserSession",
  tag,
  summary: "Log a user out of one browser",
  responses: answers(doneShape, "It is logged out.", [404]),
  async run(services, request) {
    const { id, item } = request.params;
    return await endSession(services, request, item, idOf(services, id));
  },
});

export const listAllApps = operation({
  route: "GET /api/auth/apps",
  query: byUser,
  right: gatewayAdmin,
  id: "listAllApps",
  tag,
  summary: "Apps that act for people",
  responses: answers(appList, "Without their tokens, which are not kept.", [404]),
  run: (services, { query }) => showApps(services, idIfNamed(services, query)),
});

export const revokeAnyApp = operation({
  route: "DELETE /api/auth/apps/{id}",
  params: ofUser,
  query: byUser,
  right: gatewayAdmin,
  id: "revokeAnyApp",
  tag,
  summary: "Take the access of anybody's app back",
  responses: answers(doneShape, "It has no access any more.", [404]),
  async run(services, request) {
    const { params, query } = request;
    return await revokeApp(services, request, params.id, idIfNamed(services, query));
  },
});

export const listAllSessions = operation({
  route: "GET /api/auth/sessions",
  query: byUser,
  right: gatewayAdmin,
  id: "listAllSessions",
  tag,
  summary: "Browsers that people are logged in with",
  responses: answers(logins, "Without their cookies, which are not kept.", [404]),
  run: (services, request) => showSessions(services, request, idIfNamed(services, request.query)),
});

export const endAnySession = operation({
  route: "DELETE /api/auth/sessions/{id}",
  params: ofUser,
  query: byUser,
  right: gatewayAdmin,
  id: "endAnySession",
  tag,
  summary: "Log anybody's browser out",
  responses: answers(doneShape, "It is logged out.", [404]),
  async run(services, request) {
    const { params, query } = request;
    return await endSession(services, request, params.id, idIfNamed(services, query));
  },
});

/** Of a user, by name or id. */
function idOf(services: Services, name: string): string {
  return findUser(requirePeople(services).book, name).id;
}

/** Undefined where no user is named, which means all. */
function idIfNamed(services: Services, { user }: z.output<typeof byUser>): string | undefined {
  return user === undefined ? undefined : idOf(services, user);
}

function showApps(services: Services, userId: string | undefined): z.output<typeof appList> {
  return { apps: requirePeople(services).access.appsOf(userId).map(toApp) };
}

function showSessions(
  services: Services,
  { session: own }: Pick<OpenRequest, "session">,
  userId: string | undefined,
): z.output<typeof logins> {
  const lines = requirePeople(services).access.sessionsOf(userId);
  return { sessions: lines.map((line) => toSession(line, own)) };
}

async function revokeApp(services: Services, request: OpenRequest, id: string, userId: string | undefined) {
  await requirePeople(services).access.revokeApp(senderOf(request), id, userId);
  return done;
}

async function endSession(services: Services, request: OpenRequest, id: string, userId: string | undefined) {
  await requirePeople(services).access.endSession(senderOf(request), id, userId);
  return done;
}

/** Throws PEOPLE_CONFLICT: people of the configuration have neither apps nor browsers. */
function userOf({ user }: Principal): string {
  if (user !== null) return user;
  throw new GatewayError("PEOPLE_CONFLICT", "only people of the database have apps and browsers there", { hint: "" });
}

function toApp({ clientId, createdAtMs, usedAtMs, expiresAtMs, ...line }: AppLine): z.output<typeof app> {
  const times = { created: toIso(createdAtMs), used: toIso(usedAtMs), expires: toIso(expiresAtMs) };
  return { ...line, client: clientId, scopes: [...line.scopes], audience: [...line.audience], ...times };
}

function toSession(
  { createdAtMs, seenAtMs, expiresAtMs, ...line }: SessionLine,
  own: string | undefined,
): z.output<typeof session> {
  const times = { created: toIso(createdAtMs), seen: toIso(seenAtMs), expires: toIso(expiresAtMs) };
  return { ...line, isThis: line.id === own, ...times };
}

/** What people are logged in with: their own, and everybody's for admins of the gateway. */
export const accessOperations: readonly Operation[] = [
  listOwnApps,
  revokeOwnApp,
  listOwnSessions,
  endOwnSession,
  listUserApps,
  revokeUserApp,
  listUserSessions,
  endUserSessions,
  endUserSession,
  listAllApps,
  revokeAnyApp,
  listAllSessions,
  endAnySession,
];
