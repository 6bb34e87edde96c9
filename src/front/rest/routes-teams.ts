import * as z from "zod";
import { ownCredentials, teamAdmin, teamOwner, teamReading, type Right } from "../../engine/policy/rights.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { TeamRow } from "../../store/people-rows.ts";
import { createdAnswer, jsonAnswer } from "./answer.ts";
import type { RestDeps, RestPeople } from "./deps.ts";
import { checkPart } from "./part-check.ts";
import {
  changesBy,
  doneAnswer,
  expectedOf,
  madeJson,
  noStore,
  pageOf,
  requirePeople,
  revisedAnswer,
  teamAt,
  toIso,
} from "./people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "./responses.ts";
import { route, type Route } from "./route.ts";
import { membershipsOf } from "./routes-me.ts";
import * as schemas from "./schemas.ts";

const tag = "People";
const params = z.object({ team: schemas.name });

/** One's own team, of which a list tells as much as any other answer. */
const listing: Right = { role: "anyone", scope: "mcp:read" };

const teamList = z
  .object({ teams: z.array(shapes.team), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "TeamList" });

const newTeam = z.object({ slug: shapes.shortName, title: z.string().max(100).optional() });

const madeTeam = z
  .object({ team: shapes.team, made: shapes.madeToken.nullable().describe("A token for it, for its owner.") })
  .meta({ id: "MadeTeam" });

const changedTeam = z.object({
  title: z.string().max(100).optional(),
  limits: shapes.limits.optional().describe("Only an admin of the gateway sets them."),
});

const newOwner = z.object({ member: schemas.name.describe("Id of the membership, or the user's name.") });

/** Teams: one's own, and for admins of the gateway all. */
export function createTeamRoutes(deps: RestDeps): readonly Route[] {
  return [listTeams(deps), addTeam(deps), showTeam(deps), changeTeam(deps), removeTeam(deps), setOwner(deps)];
}

function listTeams(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams",
    query: z.object(shapes.listParameters),
    right: listing,
    operation: {
      id: "listTeams",
      tag,
      summary: "Your team, and for an admin of the gateway all",
      responses: answers(teamList, "One page."),
    },
    handle({ principal, query }) {
      const { book } = requirePeople(deps);
      const isAdmin = principal.roles.includes("admin");
      const visible = isAdmin ? [...book.teams.values()] : membershipsOf(book, principal).map(({ team }) => team);
      const { rows, nextCursor } = pageOf(visible, ({ slug }) => slug, query);
      return jsonAnswer({ teams: rows.map((row) => toTeam(book, principal, row)), nextCursor }, noStore);
    },
  });
}

function addTeam(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/teams",
    right: ownCredentials,
    operation: {
      id: "addTeam",
      tag,
      summary: "Make a team",
      description: "Whoever is no admin of the gateway becomes its owner, and may own ten.",
      body: newTeam,
      responses: creations(madeTeam, "The team, and its owner's first token.", [409, 415]),
    },
    async handle(request) {
      const { slug, title } = checkPart(newTeam, "body", request.body);
      const made = await changesBy(deps, request).addTeam({ slug, title });
      const people = requirePeople(deps);
      const row = teamAt(people, slug);
      // A token is for the team that it was made in, and says nothing of its user in this one.
      const own = people.book.membersIn(row.id).find(({ user }) => user.id === request.principal.user);
      const team = { ...toTeam(people.book, request.principal, row), role: own?.row.role ?? null };
      const answer = jsonAnswer({ team, made: made === undefined ? null : madeJson(made) }, noStore);
      return createdAnswer(`${deps.publicUrl(request.raw)}/api/teams/${slug}`, answer);
    },
  });
}

function showTeam(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}",
    params,
    right: teamReading,
    operation: {
      id: "showTeam",
      tag,
      summary: "One team",
      responses: answers(shapes.team, "The team.", [304, 404]),
    },
    handle: ({ principal, params: { team } }) => answerTeam(requirePeople(deps), principal, team),
  });
}

function changeTeam(deps: RestDeps): Route {
  return route({
    method: "PATCH",
    path: "/api/teams/{team}",
    params,
    right: teamAdmin,
    operation: {
      id: "changeTeam",
      tag,
      summary: "Change a team's title or limits",
      body: changedTeam,
      responses: answers(shapes.team, "The team after that.", [404, 412, 415]),
    },
    async handle(request) {
      const { title, limits } = checkPart(changedTeam, "body", request.body);
      const { team } = request.params;
      const change = { team, title, limits: limits === undefined ? undefined : toLimits(limits) };
      await changesBy(deps, request).changeTeam({ ...change, expected: expectedOf(request.raw) });
      return answerTeam(requirePeople(deps), request.principal, team);
    },
  });
}

function removeTeam(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/teams/{team}",
    params,
    right: teamOwner,
    operation: {
      id: "removeTeam",
      tag,
      summary: "Remove a team, with its memberships, tokens and invitations",
      responses: answers(shapes.done, "The team is gone.", [404, 409, 412]),
    },
    async handle(request) {
      await changesBy(deps, request).removeTeam(request.params.team, expectedOf(request.raw));
      return doneAnswer();
    },
  });
}

function setOwner(deps: RestDeps): Route {
  return route({
    method: "PUT",
    path: "/api/teams/{team}/owner",
    params,
    right: teamOwner,
    operation: {
      id: "setTeamOwner",
      tag,
      summary: "Hand a team over to one of its members",
      description: "Whoever owned it before is an admin of it then.",
      body: newOwner,
      responses: answers(shapes.done, "The team has another owner.", [404, 409, 412, 415]),
    },
    async handle(request) {
      const { member } = checkPart(newOwner, "body", request.body);
      const { team } = request.params;
      await changesBy(deps, request).setOwner({ team, member, expected: expectedOf(request.raw) });
      return doneAnswer();
    },
  });
}

function toLimits({ members, servers, programs }: z.output<typeof shapes.limits>): TeamRow["limits"] {
  return {
    ...(members === undefined ? {} : { members }),
    ...(servers === undefined ? {} : { servers }),
    ...(programs === undefined ? {} : { programs }),
  };
}

function answerTeam(people: RestPeople, principal: Principal, slug: string) {
  const row = teamAt(people, slug);
  return revisedAnswer(row, toTeam(people.book, principal, row));
}

function toTeam(book: RestPeople["book"], principal: Principal, { id, slug, title, limits, createdAtMs }: TeamRow) {
  const own = membershipsOf(book, principal).find(({ team }) => team.id === id);
  const members = book.membersIn(id).length;
  return { slug, title, limits, created: toIso(createdAtMs), members, role: own?.row.role ?? null };
}
