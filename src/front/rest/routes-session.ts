import * as z from "zod";
import { ownRecords } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { BrowserLogin, BrowserSession } from "../../people/identity/browser-sessions.ts";
import { hashToken } from "../../people/identity/token.ts";
import { isLoopback, refuseOtherPages, refusePlainNetwork, toCookie, toEndedCookie } from "../web/session-request.ts";
import type { VisitingPerson } from "../web/browsers.ts";
import { jsonAnswer, noStore } from "./answer.ts";
import { toIso } from "../../operations/request/people-request.ts";
import { type RestDeps, publicRoute, route, type PublicRequest, type RestRequest, type Route } from "./route.ts";
import { checkPart } from "../../operations/operation.ts";
import * as people from "../../operations/people/people-schemas.ts";
import { answers } from "../../operations/responses.ts";
import { membershipsOf, toMembership } from "../../operations/people/me-operations.ts";
import * as schemas from "../../operations/schemas.ts";

export const tag = "Dashboard";

const loginBody = z
  .object({
    code: z.string().max(100).optional().describe("Of a link that `toolyard open` made: once, within five minutes."),
    token: z.string().max(4_096).optional().describe("A bearer token of this gateway."),
  })
  .meta({ id: "DashboardLogin" });

const person = {
  principal: z.string(),
  team: schemas.nullableText,
  roles: z.array(z.string()),
  mayManage: z.boolean().describe("Whether the configuration can be changed."),
  user: schemas.nullableText.describe("The name of the user; null for people of the configuration."),
  teams: z.array(people.membership).describe("Between which the browser can choose, with `X-Toolyard-Team`."),
  hasPeople: z.boolean().describe("Whether this gateway has users and teams."),
  isNode: z.boolean().describe("Whether this gateway is a node of a cluster."),
  isPerson: z.boolean().describe("Whether the session is that of the pages for people, good in all their teams."),
};

const session = z
  .object({
    id: z.string(),
    version: z.string().describe("Of the gateway."),
    ...person,
    startedAt: z.string(),
    endsAt: z.string().describe("When it ends unless it is used before."),
  })
  .meta({ id: "DashboardSession" });

const login = z
  .object({
    ...session.shape,
    key: z.string().describe("Sent as `Toolyard-Key` with every request, beside the cookie. Shown only now."),
  })
  .meta({ id: "DashboardLoginAnswer" });

const loginWays = z
  .object({
    hasPeople: z.boolean().describe("Whether people log in at `page`."),
    page: z.string(),
    person: schemas.nullableText.describe("Who this browser is logged in as there, also somebody who is in no team."),
  })
  .meta({ id: "LoginWays" });

/** Logging in at the dashboard, and who is logged in. */
export function createSessionRoutes(deps: RestDeps): readonly Route[] {
  return [startSession(deps), showSession(deps), endOwnSession(deps), showLoginWays(deps)];
}

function startSession(deps: RestDeps): Route {
  return publicRoute({
    method: "POST",
    path: "/api/session",
    operation: {
      id: "startSession",
      tag,
      summary: "Log a browser in",
      description: "Sets a cookie and answers with a key; every request of the dashboard needs both.",
      body: loginBody,
      responses: answers(login, "Who is logged in now.", [413, 415, 429]),
    },
    async handle(request) {
      const { raw, body } = request;
      refuseOtherPages(raw);
      refusePlainNetwork(raw, deps.publicUrl(raw));
      const given = checkPart(loginBody, "body", body);
      const started = await logIn(deps, request, given);
      const principal = await deps.browsers.principalOf(started.session, raw);
      return jsonAnswer(
        { ...describe(deps, { session: started.session, principal }), key: started.key },
        { ...noStore, "Set-Cookie": toCookie(deps.browsers.cookieName(raw), started.cookie) },
      );
    },
  });
}

/** Rejects with UNAUTHORIZED, PARAMS_INVALID and BROWSER_LIMIT. */
async function logIn(
  { browsers }: RestDeps,
  { raw }: PublicRequest,
  { code, token }: z.output<typeof loginBody>,
): Promise<BrowserLogin> {
  const browser = raw.headers["user-agent"] ?? "";
  if (code !== undefined) {
    if (!isLoopback(raw))
      throw new GatewayError("FORBIDDEN", "links of `toolyard open` work only on the machine of the gateway");
    browsers.codes.use(code);
    return await browsers.sessions.start({ tokenHash: null, person: null }, browser);
  }
  if (token === undefined)
    throw new GatewayError("PARAMS_INVALID", "body: has neither a code nor a token", { data: { field: "body" } });
  const hash = hashToken(token).slice("sha256:".length);
  // Rejects when the token is unknown, and when it is for another resource.
  const { user, id } = await browsers.principalOf({ tokenHash: hash }, raw);
  return await browsers.sessions.start({ tokenHash: hash, person: user ?? id }, browser);
}

function showSession(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/session",
    right: ownRecords,
    operation: {
      id: "showSession",
      tag,
      summary: "Who is logged in",
      responses: answers(session, "The session of this browser."),
    },
    handle(request) {
      const { principal, raw } = request;
      const person = principal.via === "session" ? deps.browsers.personOf(raw) : undefined;
      if (person !== undefined) return jsonAnswer(describe(deps, { person, principal }), noStore);
      return jsonAnswer(describe(deps, { session: ownSession(deps, request), principal }), noStore);
    },
  });
}

function endOwnSession(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/session",
    right: ownRecords,
    operation: {
      id: "endOwnSession",
      tag,
      summary: "Log this browser out",
      responses: answers(z.object({ ended: z.boolean() }).meta({ id: "EndedSession" }), "It is logged out.", [415]),
    },
    async handle(request) {
      if (request.principal.via === "session") {
        refuseOtherPages(request.raw);
        await deps.browsers.personOf(request.raw)?.end();
        return jsonAnswer({ ended: true }, noStore);
      }
      const ended = await deps.browsers.sessions.end(ownSession(deps, request).id);
      return jsonAnswer({ ended }, { ...noStore, "Set-Cookie": toEndedCookie(deps.browsers.cookieName(request.raw)) });
    },
  });
}

function showLoginWays({ browsers }: RestDeps): Route {
  return publicRoute({
    method: "GET",
    path: "/api/session/login",
    operation: {
      id: "showLoginWays",
      tag,
      summary: "How this gateway wants browsers to log in",
      responses: answers(loginWays, "Where people log in, and who this browser is there."),
    },
    handle({ raw }) {
      refuseOtherPages(raw);
      const { hasPeople } = browsers;
      return jsonAnswer({ hasPeople, page: "/auth/login", person: browsers.personOf(raw)?.name ?? null }, noStore);
    },
  });
}

/** Throws UNAUTHORIZED for a request that is known by something else than a session. */
function ownSession({ browsers }: RestDeps, { raw }: RestRequest): BrowserSession {
  const found = browsers.sessionOf(raw);
  if (found !== undefined) return found;
  throw new GatewayError("UNAUTHORIZED", "no browser is logged in here", {
    hint: "`toolyard open` makes a link that logs one in.",
  });
}

interface Described {
  readonly principal: Principal;
  readonly session?: BrowserSession;
  readonly person?: VisitingPerson;
}

function describe(deps: RestDeps, { principal, session: one, person: visiting }: Described): z.output<typeof session> {
  const { id, team, roles, user } = principal;
  const book = deps.people()?.book;
  return {
    id: one?.id ?? "person",
    version: deps.version,
    principal: id,
    team,
    roles: [...roles],
    mayManage: deps.management !== undefined && roles.includes("admin"),
    user: visiting?.name ?? book?.users.get(user ?? "")?.name ?? null,
    teams: book === undefined ? [] : membershipsOf(book, principal).map(toMembership),
    hasPeople: book !== undefined,
    isNode: deps.nodes() !== undefined,
    isPerson: visiting !== undefined,
    startedAt: toIso(one?.createdAtMs ?? visiting?.startedAtMs ?? 0),
    endsAt: toIso(one?.endsAtMs ?? visiting?.endsAtMs ?? 0),
  };
}
