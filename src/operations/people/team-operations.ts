import * as z from "zod";
import { ownCredentials, teamAdmin, teamOwner, teamReading, type Right } from "../../engine/policy/rights.ts";
import type { PolicyRule } from "../../config/rows/rule-rows.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { TeamRow } from "../../store/people-rows.ts";
import { changesBy, expectedOf, madeJson, pageOf, requirePeople, teamAt, toIso } from "../request/people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "../responses.ts";
import { membershipsOf } from "./me-operations.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { revised, created, done } from "../reply.ts";
import type { RestPeople } from "../services.ts";

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
  rules: z.array(shapes.policyRule).max(200).optional().describe("In place of those that it has."),
});

const newOwner = z.object({ member: schemas.name.describe("Id of the membership, or the user's name.") });

export const listTeams = operation({
  route: "GET /api/teams",
  query: z.object(shapes.listParameters),
  right: listing,
  id: "listTeams",
  tag,
  summary: "Your team, and for an admin of the gateway all",
  responses: answers(teamList, "One page."),
  run(services, { principal, query }) {
    const { book } = requirePeople(services);
    const isAdmin = principal.roles.includes("admin");
    const visible = isAdmin ? [...book.teams.values()] : membershipsOf(book, principal).map(({ team }) => team);
    const { rows, nextCursor } = pageOf(visible, ({ slug }) => slug, query);
    return { teams: rows.map((row) => toTeam(book, principal, row)), nextCursor };
  },
});

export const addTeam = operation({
  route: "POST /api/teams",
  right: ownCredentials,
  id: "addTeam",
  tag,
  summary: "Make a team",
  description: "Whoever is no admin of the gateway becomes its owner, and may own ten.",
  body: newTeam,
  responses: creations(madeTeam, "The team, and its owner's first token.", [409, 415]),
  async run(services, request) {
    const { slug, title } = request.body;
    const made = await changesBy(services, request).addTeam({ slug, title });
    const people = requirePeople(services);
    const row = teamAt(people, slug);
    // A token is for the team that it was made in, and says nothing of its user in this one.
    const own = people.book.membersIn(row.id).find(({ user }) => user.id === request.principal.user);
    const team = { ...toTeam(people.book, request.principal, row), role: own?.row.role ?? null };
    const answer = { team, made: made === undefined ? null : madeJson(made) };
    return created(`/api/teams/${slug}`, answer);
  },
});

export const showTeam = operation({
  route: "GET /api/teams/{team}",
  params,
  right: teamReading,
  id: "showTeam",
  tag,
  summary: "One team",
  responses: answers(shapes.team, "The team.", [304, 404]),
  run: (services, { principal, params: { team } }) => answerTeam(requirePeople(services), principal, team),
});

export const changeTeam = operation({
  route: "PATCH /api/teams/{team}",
  params,
  right: teamAdmin,
  id: "changeTeam",
  tag,
  summary: "Change a team's title, rules or limits",
  description: "Its rules are about calls of the servers that it installed, and make them stricter.",
  body: changedTeam,
  responses: answers(shapes.team, "The team after that.", [404, 412, 415]),
  async run(services, request) {
    const { title, limits, rules } = request.body;
    const { team } = request.params;
    const change = { team, title, rules, limits: limits === undefined ? undefined : toLimits(limits) };
    await changesBy(services, request).changeTeam({ ...change, expected: expectedOf(request) });
    return answerTeam(requirePeople(services), request.principal, team);
  },
});

export const removeTeam = operation({
  route: "DELETE /api/teams/{team}",
  params,
  right: teamOwner,
  id: "removeTeam",
  tag,
  summary: "Remove a team, with its memberships, tokens and invitations",
  responses: answers(shapes.done, "The team is gone.", [404, 409, 412]),
  async run(services, request) {
    await changesBy(services, request).removeTeam(request.params.team, expectedOf(request));
    return done;
  },
});

export const setOwner = operation({
  route: "PUT /api/teams/{team}/owner",
  params,
  right: teamOwner,
  id: "setTeamOwner",
  tag,
  summary: "Hand a team over to one of its members",
  description: "Whoever owned it before is an admin of it then.",
  body: newOwner,
  responses: answers(shapes.done, "The team has another owner.", [404, 409, 412, 415]),
  async run(services, request) {
    const { member } = request.body;
    const { team } = request.params;
    await changesBy(services, request).setOwner({ team, member, expected: expectedOf(request) });
    return done;
  },
});

function toLimits({ members, servers, programs }: z.output<typeof shapes.limits>): TeamRow["limits"] {
  return {
    ...(members === undefined ? {} : { members }),
    ...(servers === undefined ? {} : { servers }),
    ...(programs === undefined ? {} : { programs }),
  };
}

function answerTeam(people: RestPeople, principal: Principal, slug: string) {
  const row = teamAt(people, slug);
  return revised(row, toTeam(people.book, principal, row));
}

function toTeam(
  book: RestPeople["book"],
  principal: Principal,
  { id, slug, title, limits, rules = [], createdAtMs }: TeamRow,
) {
  const own = membershipsOf(book, principal).find(({ team }) => team.id === id);
  const members = book.membersIn(id).length;
  return {
    slug,
    title,
    limits,
    rules: rules.map(toRule),
    created: toIso(createdAtMs),
    members,
    role: own?.row.role ?? null,
  };
}

/** A copy that the answer may have: those of rows are frozen. */
function toRule(rule: PolicyRule): z.output<typeof shapes.policyRule> {
  return structuredClone(rule) as z.output<typeof shapes.policyRule>;
}

/** Teams: one's own, and for admins of the gateway all. */
export const teamOperations: readonly Operation[] = [listTeams, addTeam, showTeam, changeTeam, removeTeam, setOwner];
