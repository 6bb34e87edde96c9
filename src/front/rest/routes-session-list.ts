import * as z from "zod";
import { ownCredentials, ownRecords } from "../../engine/policy/rights.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { BrowserSession } from "../../people/identity/browser-sessions.ts";
import { toBrowserName } from "../../people/identity/browser-name.ts";
import { requireOwner } from "../../operations/request/manager.ts";
import { answers } from "../../operations/responses.ts";
import * as schemas from "../../operations/schemas.ts";
import { jsonAnswer, noStore, type Answer } from "./answer.ts";
import { toIso } from "../../operations/request/people-request.ts";
import { type RestDeps, route, type RestRequest, type Route } from "./route.ts";
import { toRequestFacts } from "./operation-route.ts";
import { tag } from "./routes-session.ts";

const sessionList = z
  .object({
    browsers: z.array(
      z.object({
        id: z.string(),
        browser: z.string().describe("As people know it, `Firefox on Linux`; otherwise as it names itself."),
        principal: schemas.nullableText.describe("Null when its token was taken back."),
        startedAt: z.string(),
        usedAt: z.string(),
        endsAt: z.string(),
        isThis: z.boolean(),
      }),
    ),
    clients: z
      .array(
        z.object({
          client: schemas.nullableText.describe("As it names itself."),
          principal: schemas.nullableText,
          endpoint: schemas.nullableText,
          revision: schemas.nullableText.describe("Of the protocol; null for a client without sessions."),
          idleMs: z.number().nullable(),
        }),
      )
      .describe("MCP clients that are connected."),
  })
  .meta({ id: "SessionList" });

/** Which browsers are logged in and which clients are connected: everybody's for an admin, for others their own. */
export function createSessionListRoutes(deps: RestDeps): readonly Route[] {
  return [listSessions(deps), endSession(deps)];
}

function listSessions(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/sessions",
    right: ownRecords,
    operation: {
      id: "listSessions",
      tag,
      summary: "Browsers that are logged in, and clients that are connected",
      description: "An admin sees everybody's, others theirs.",
      responses: answers(sessionList, "Newest first."),
    },
    async handle(request) {
      const own = deps.browsers.sessionOf(request.raw)?.id;
      const browsers = (await seenBrowsers(deps, request)).map(({ one, principal }) => ({
        id: one.id,
        browser: toBrowserName(one.browser) || one.browser,
        principal,
        startedAt: toIso(one.createdAtMs),
        usedAt: toIso(one.usedAtMs),
        endsAt: toIso(one.endsAtMs),
        isThis: one.id === own,
      }));
      const { principal } = request;
      const clients = deps.connections().filter((one) => seesAll(principal) || one.principal === principal.id);
      return jsonAnswer({ browsers, clients }, noStore);
    },
  });
}

function seesAll({ roles }: Principal): boolean {
  return roles.includes("admin");
}

interface SeenBrowser {
  readonly one: BrowserSession;
  /** Null when its token was taken back. */
  readonly principal: string | null;
}

/** Everybody's for an admin, and for others their own. Throws FORBIDDEN where the gateway asks for no credentials. */
async function seenBrowsers(deps: RestDeps, request: RestRequest): Promise<readonly SeenBrowser[]> {
  const { raw, response, principal: asking } = request;
  if (seesAll(asking)) requireOwner(deps, Object.assign(toRequestFacts(deps, raw, response), { principal: asking }));
  const { browsers } = deps;
  const nameOf = async (one: BrowserSession): Promise<string | null> =>
    await browsers.principalOf(one, raw).then(
      ({ id }) => id,
      () => null,
    );
  const all = browsers.sessions.list().map(async (one) => ({ one, principal: await nameOf(one) }));
  return (await Promise.all(all)).filter(({ principal }) => seesAll(asking) || principal === asking.id);
}

function endSession(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/sessions/{id}",
    right: ownCredentials,
    params: z.object({ id: schemas.name }),
    operation: {
      id: "endSession",
      tag,
      summary: "Log another browser out",
      description: "An admin logs out everybody's, others theirs.",
      responses: answers(
        z.object({ ended: z.boolean() }).meta({ id: "EndedSession" }),
        "Whether there was one.",
        [415],
      ),
    },
    async handle(request): Promise<Answer> {
      const { id: actor, team } = request.principal;
      const { id } = request.params;
      const seen = await seenBrowsers(deps, request);
      // Of another's session others than admins are told what they are told of none.
      if (!seesAll(request.principal) && !seen.some(({ one }) => one.id === id))
        return jsonAnswer({ ended: false }, noStore);
      await deps.audit.order({ actor, team, via: "rest", action: "session.end", object: id });
      return jsonAnswer({ ended: await deps.browsers.sessions.end(id) }, noStore);
    },
  });
}
