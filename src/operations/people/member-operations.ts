import * as z from "zod";
import { gatewayAdmin, teamReading, type Right } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Member } from "../../people/directory/books/member.ts";
import { changesBy, expectedOf, pageOf, requirePeople, teamAt, toIso } from "../request/people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { revised, created, done } from "../reply.ts";
import type { RestPeople } from "../services.ts";

const tag = "People";
const teamParams = z.object({ team: schemas.name });
const params = z.object({
  team: schemas.name,
  member: schemas.name.describe("Id of the membership, or the user's name."),
});

/** Who manages whom is decided by the change itself: a member may leave, and no more than that. */
const managing: Right = { role: "member", scope: "mcp:admin" };

const memberList = z
  .object({ members: z.array(shapes.member), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "MemberList" });

const newMember = z.object({ user: shapes.shortName, role: shapes.teamRole.optional().describe("Default: member.") });
const withRole = z.object({ role: shapes.teamRole });

export const listMembers = operation({
  route: "GET /api/teams/{team}/members",
  params: teamParams,
  query: z.object(shapes.listParameters),
  right: teamReading,
  id: "listMembers",
  tag,
  summary: "Who is in a team, by name",
  responses: answers(memberList, "One page.", [404]),
  run(services, { params: { team }, query }) {
    const people = requirePeople(services);
    const members = people.book.membersIn(teamAt(people, team).id);
    const { rows, nextCursor } = pageOf(members, ({ user }) => user.name, query);
    return { members: rows.map(toMember), nextCursor };
  },
});

export const addMember = operation({
  route: "POST /api/teams/{team}/members",
  params: teamParams,
  right: gatewayAdmin,
  id: "addMember",
  tag,
  summary: "Put a user into a team",
  description: "For admins of the gateway, because it tells who its users are. Others invite people.",
  body: newMember,
  responses: creations(shapes.member, "The member.", [404, 409, 415]),
  async run(services, request) {
    const { user, role = "member" } = request.body;
    const { team } = request.params;
    const { id } = await changesBy(services, request).addMember({ team, user, role });
    return created(`/api/teams/${team}/members/${id}`, answerMember(requirePeople(services), team, id));
  },
});

const showMember = operation({
  route: "GET /api/teams/{team}/members/{member}",
  params,
  right: teamReading,
  id: "showMember",
  tag,
  summary: "One member",
  responses: answers(shapes.member, "The member.", [304, 404]),
  run: (services, { params: { team, member } }) => answerMember(requirePeople(services), team, member),
});

export const changeMember = operation({
  route: "PATCH /api/teams/{team}/members/{member}",
  params,
  right: managing,
  id: "changeMember",
  tag,
  summary: "Give a member another role",
  description: "Admins of a team manage its members, its owners manage its admins; no one changes their own role.",
  body: withRole,
  responses: answers(shapes.member, "The member after that.", [404, 409, 412, 415]),
  async run(services, request) {
    const { role } = request.body;
    const { team, member } = request.params;
    await changesBy(services, request).changeMember({ team, member, expected: expectedOf(request) }, role);
    return answerMember(requirePeople(services), team, member);
  },
});

export const removeMember = operation({
  route: "DELETE /api/teams/{team}/members/{member}",
  params,
  right: managing,
  id: "removeMember",
  tag,
  summary: "Take somebody out of a team, or leave it",
  description: "With all tokens for this team; what was opened with them ends at once. An owner does not leave.",
  responses: answers(shapes.done, "The member is gone.", [404, 409, 412]),
  async run(services, request) {
    const { team, member } = request.params;
    await changesBy(services, request).removeMember({ team, member, expected: expectedOf(request) });
    return done;
  },
});

function answerMember(people: RestPeople, slug: string, id: string) {
  const team = teamAt(people, slug).id;
  const found =
    people.book.members.get(id) ?? people.book.membersIn(team).find(({ user }) => user.name === id || user.id === id);
  if (found === undefined || found.team.id !== team)
    throw new GatewayError("PERSON_UNKNOWN", "there is no such member in the team", {
      hint: "`toolyard team members` and GET /api/teams/{team}/members list them.",
    });
  return revised(found.row, toMember(found));
}

function toMember({ row, user }: Member): z.output<typeof shapes.member> {
  return { id: row.id, user: user.name, role: row.role, status: user.status, created: toIso(row.createdAtMs) };
}

/** Who is in a team. */
export const memberOperations: readonly Operation[] = [listMembers, addMember, showMember, changeMember, removeMember];
