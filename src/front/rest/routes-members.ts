import * as z from "zod";
import { gatewayAdmin, teamReading, type Right } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Member } from "../../people/directory/books/member.ts";
import { createdAnswer, jsonAnswer } from "./answer.ts";
import type { RestDeps, RestPeople } from "./deps.ts";
import { checkPart } from "./part-check.ts";
import {
  changesBy,
  doneAnswer,
  expectedOf,
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
import * as schemas from "./schemas.ts";

const tag = "People";
const teamParams = z.object({ team: schemas.name });
const params = z.object({ team: schemas.name, member: schemas.name.describe("Id of the membership.") });

/** Who manages whom is decided by the change itself: a member may leave, and no more than that. */
const managing: Right = { role: "member", scope: "mcp:admin" };

const memberList = z
  .object({ members: z.array(shapes.member), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "MemberList" });

const newMember = z.object({ user: shapes.shortName, role: shapes.teamRole.optional().describe("Default: member.") });
const withRole = z.object({ role: shapes.teamRole });

/** Who is in a team. */
export function createMemberRoutes(deps: RestDeps): readonly Route[] {
  return [listMembers(deps), addMember(deps), showMember(deps), changeMember(deps), removeMember(deps)];
}

function listMembers(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/members",
    params: teamParams,
    query: z.object(shapes.listParameters),
    right: teamReading,
    operation: {
      id: "listMembers",
      tag,
      summary: "Who is in a team, by name",
      responses: answers(memberList, "One page.", [404]),
    },
    handle({ params: { team }, query }) {
      const people = requirePeople(deps);
      const members = people.book.membersIn(teamAt(people, team).id);
      const { rows, nextCursor } = pageOf(members, ({ user }) => user.name, query);
      return jsonAnswer({ members: rows.map(toMember), nextCursor }, noStore);
    },
  });
}

function addMember(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/teams/{team}/members",
    params: teamParams,
    right: gatewayAdmin,
    operation: {
      id: "addMember",
      tag,
      summary: "Put a user into a team",
      description: "For admins of the gateway, because it tells who its users are. Others invite people.",
      body: newMember,
      responses: creations(shapes.member, "The member.", [404, 409, 415]),
    },
    async handle(request) {
      const { user, role = "member" } = checkPart(newMember, "body", request.body);
      const { team } = request.params;
      const { id } = await changesBy(deps, request).addMember({ team, user, role });
      const location = `${deps.publicUrl(request.raw)}/api/teams/${team}/members/${id}`;
      return createdAnswer(location, answerMember(requirePeople(deps), team, id));
    },
  });
}

function showMember(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/members/{member}",
    params,
    right: teamReading,
    operation: {
      id: "showMember",
      tag,
      summary: "One member",
      responses: answers(shapes.member, "The member.", [304, 404]),
    },
    handle: ({ params: { team, member } }) => answerMember(requirePeople(deps), team, member),
  });
}

function changeMember(deps: RestDeps): Route {
  return route({
    method: "PATCH",
    path: "/api/teams/{team}/members/{member}",
    params,
    right: managing,
    operation: {
      id: "changeMember",
      tag,
      summary: "Give a member another role",
      description: "Admins of a team manage its members, its owners manage its admins; nobody changes their own role.",
      body: withRole,
      responses: answers(shapes.member, "The member after that.", [404, 409, 412, 415]),
    },
    async handle(request) {
      const { role } = checkPart(withRole, "body", request.body);
      const { team, member } = request.params;
      await changesBy(deps, request).changeMember({ team, member, expected: expectedOf(request.raw) }, role);
      return answerMember(requirePeople(deps), team, member);
    },
  });
}

function removeMember(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/teams/{team}/members/{member}",
    params,
    right: managing,
    operation: {
      id: "removeMember",
      tag,
      summary: "Take somebody out of a team, or leave it",
      description: "With all tokens for this team; what was opened with them ends at once. An owner does not leave.",
      responses: answers(shapes.done, "The member is gone.", [404, 409, 412]),
    },
    async handle(request) {
      const { team, member } = request.params;
      await changesBy(deps, request).removeMember({ team, member, expected: expectedOf(request.raw) });
      return doneAnswer();
    },
  });
}

function answerMember(people: RestPeople, slug: string, id: string) {
  const found = people.book.members.get(id);
  if (found === undefined || found.team.id !== teamAt(people, slug).id)
    throw new GatewayError("PERSON_UNKNOWN", "there is no such member in the team", {
      hint: "GET /api/teams/{team}/members lists them.",
    });
  return revisedAnswer(found.row, toMember(found));
}

function toMember({ row, user }: Member): z.output<typeof shapes.member> {
  return { id: row.id, user: user.name, role: row.role, status: user.status, created: toIso(row.createdAtMs) };
}
