import * as z from "zod";
import { ownCredentials, reading } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { HeldPat, Member } from "../../people/directory/books/member.ts";
import { createdAnswer, jsonAnswer } from "./answer.ts";
import type { RestDeps, RestPeople } from "./deps.ts";
import { checkPart } from "./part-check.ts";
import { changesBy, doneAnswer, madeJson, noStore, requirePeople, toIso } from "./people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "People";
const usualDays = 90;

const me = z
  .object({
    id: z.string().describe("As calls and the audit name whoever asks."),
    user: z.object({ id: z.string(), name: z.string(), role: shapes.userRole }).nullable(),
    team: schemas.nullableText,
    roles: z.array(z.string()),
    via: z.string().describe("The kind of credential."),
    scopes: z.array(z.string()).describe("Empty: everything that the roles permit."),
    only: z.array(z.string()).nullable().describe("The servers that the credential is for; null: all."),
    teams: z.array(shapes.membership).describe("In a browser all teams of the user, elsewhere that of the credential."),
  })
  .meta({ id: "Me" });

const tokenList = z.object({ tokens: z.array(shapes.token) }).meta({ id: "PersonalTokenList" });

/** Who asks, and their own tokens: those of the same membership. */
export function createMeRoutes(deps: RestDeps): readonly Route[] {
  return [showMe(deps), listTokens(deps), makeToken(deps), showToken(deps), revokeToken(deps)];
}

function showMe(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/me",
    right: reading,
    operation: {
      id: "showMe",
      tag,
      summary: "Who asks, and with what",
      responses: answers(me, "You."),
    },
    handle({ principal }) {
      const { id, team, roles, via, scopes, only = null } = principal;
      const book = deps.people()?.book;
      const row = book?.users.get(principal.user ?? "");
      const user = row === undefined ? null : { id: row.id, name: row.name, role: row.role };
      const teams = book === undefined ? [] : membershipsOf(book, principal).map(toMembership);
      return jsonAnswer({ id, user, team, roles, via, scopes, only, teams }, noStore);
    },
  });
}

/** A token shows the team that it is for alone: whoever finds it learns nothing of the others. */
export function membershipsOf(book: RestPeople["book"], { id, user, via }: Principal): readonly Member[] {
  if (via === "session" && user !== null) return book.membersOf(user);
  const member = book.members.get(id);
  return member === undefined ? [] : [member];
}

export function toMembership({ row, team }: Member): z.output<typeof shapes.membership> {
  return { team: team.slug, title: team.title, role: row.role, membership: row.id };
}

function listTokens(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/me/tokens",
    right: ownCredentials,
    operation: {
      id: "listMyTokens",
      tag,
      summary: "Your tokens for this team",
      responses: answers(tokenList, "Without the tokens themselves, which nobody has."),
    },
    handle({ principal }) {
      const pats = requirePeople(deps).book.members.get(principal.id)?.pats ?? new Map<string, HeldPat>();
      return jsonAnswer({ tokens: [...pats.values()].map(toToken) }, noStore);
    },
  });
}

function makeToken(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/me/tokens",
    right: ownCredentials,
    operation: {
      id: "makeMyToken",
      tag,
      summary: "Another token for yourself in this team",
      body: shapes.tokenBody,
      responses: creations(shapes.madeToken, "The token, which is shown only now.", [409, 415]),
    },
    async handle(request) {
      const { name = "", days = usualDays, ...limits } = checkPart(shapes.tokenBody, "body", request.body);
      const { team, user } = request.principal;
      if (user === null || team === null)
        throw new GatewayError("PEOPLE_CONFLICT", "only people of the database have tokens there", {
          hint: "Tokens of the configuration stand in its file.",
        });
      const made = await changesBy(deps, request).addToken({ user, team, name, days, ...limits });
      return createdAnswer(
        `${deps.publicUrl(request.raw)}/api/me/tokens/${made.id}`,
        jsonAnswer(madeJson(made), noStore),
      );
    },
  });
}

const params = z.object({ id: schemas.name });

function showToken(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/me/tokens/{id}",
    params,
    right: ownCredentials,
    operation: {
      id: "showMyToken",
      tag,
      summary: "One of your tokens",
      responses: answers(shapes.token, "The token, without itself.", [404]),
    },
    handle({ principal, params: { id } }) {
      const held = requirePeople(deps).book.patOf(id);
      if (held === undefined || held.member.row.id !== principal.id)
        throw new GatewayError("PERSON_UNKNOWN", "there is no such token", { hint: "GET /api/me/tokens lists yours." });
      return jsonAnswer(toToken(held), noStore);
    },
  });
}

function revokeToken(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/me/tokens/{id}",
    params,
    right: ownCredentials,
    operation: {
      id: "revokeMyToken",
      tag,
      summary: "Revoke one of your tokens",
      description: "Ends what was opened with it, also when it is the one that asks.",
      responses: answers(shapes.done, "It is not valid any more.", [404]),
    },
    async handle(request) {
      await changesBy(deps, request).revokeToken(request.params.id, request.principal.id);
      return doneAnswer();
    },
  });
}

function toToken({ row }: HeldPat): z.output<typeof shapes.token> {
  const { id, name, scopes, only, createdAtMs, expiresAtMs, usedAtMs } = row;
  const times = { created: toIso(createdAtMs), expires: toIso(expiresAtMs) };
  return {
    id,
    name,
    scopes: [...scopes],
    only: only === null ? null : [...only],
    ...times,
    used: usedAtMs === null ? null : toIso(usedAtMs),
  };
}
