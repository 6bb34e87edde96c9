import * as z from "zod";
import { gatewayAdmin, requireRecentLogin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { UserRow } from "../../store/people-rows.ts";
import { createdAnswer, jsonAnswer } from "./answer.ts";
import type { RestDeps, RestPeople } from "./deps.ts";
import { checkPart } from "./part-check.ts";
import {
  changesBy,
  doneAnswer,
  expectedOf,
  loginAgeMs,
  madeJson,
  noStore,
  pageOf,
  requirePeople,
  revisedAnswer,
  toIso,
} from "./people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "./responses.ts";
import { route, type Route } from "./route.ts";
import { toMembership } from "./routes-me.ts";
import * as schemas from "./schemas.ts";

const tag = "People";
const params = z.object({ id: schemas.name });
const usualDays = 90;
/** Whoever stole a token must not make themselves an admin who logs in with a browser, or log in as one. */
const recentOnly = "it takes a login with a browser of the last 15 minutes; a token does not do.";

const userList = z
  .object({ users: z.array(shapes.user), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "UserList" });

const newUser = z.object({
  name: shapes.shortName,
  admin: z.boolean().optional().describe("An admin of the gateway."),
  team: shapes.shortName.optional().describe("The team to put the user into; an admin's is made where it is missing."),
  role: shapes.teamRole.optional().describe("In the team. Default: member."),
  days: z.int().min(1).max(365).optional().describe("How long the first token is valid. Default: 90."),
  email: shapes.email.optional(),
});

const madeUser = z
  .object({ user: shapes.user, made: shapes.madeToken.nullable().describe("The first token, for the team.") })
  .meta({ id: "MadeUser" });

const changed = z
  .object({
    name: shapes.shortName.optional(),
    email: shapes.email.nullable().optional().describe("Null takes it away."),
  })
  .refine(({ name, email }) => name !== undefined || email !== undefined, "has neither a name nor an email");
const withRole = z.object({ role: shapes.userRole });

/** The users of the gateway, for its admins. */
export function createUserRoutes(deps: RestDeps): readonly Route[] {
  return [
    listUsers(deps),
    addUser(deps),
    showUser(deps),
    renameUser(deps),
    removeUser(deps),
    setStatus(deps, "disable", "disabled"),
    setStatus(deps, "enable", "active"),
    setRole(deps),
    revokeTokens(deps),
  ];
}

function listUsers(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/users",
    query: z.object(shapes.listParameters),
    right: gatewayAdmin,
    operation: { id: "listUsers", tag, summary: "All users, by name", responses: answers(userList, "One page.") },
    handle({ query }) {
      const { book } = requirePeople(deps);
      const { rows, nextCursor } = pageOf([...book.users.values()], ({ name }) => name, query);
      return jsonAnswer({ users: rows.map((row) => toUser(book, row)), nextCursor }, noStore);
    },
  });
}

function addUser(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/users",
    right: gatewayAdmin,
    operation: {
      id: "addUser",
      tag,
      summary: "Add a user",
      description: `An admin of the gateway, or somebody with an e-mail address: ${recentOnly}`,
      body: newUser,
      responses: creations(madeUser, "The user, and with a team the first token.", [404, 409, 415]),
    },
    async handle(request) {
      const given = checkPart(newUser, "body", request.body);
      const { name, admin = false, team, role = "member", days = usualDays, email } = given;
      const changes = changesBy(deps, request);
      // With an address, whoever comes with it from a provider with `linkByEmail` is that user.
      if (admin || email !== undefined) requireRecentLogin(loginAgeMs(deps, request.raw));
      const made = await changes.addUser({ name, isAdmin: admin, team, role, days, email });
      const { book } = requirePeople(deps);
      const user = toUser(book, findUser(book, name));
      const answer = jsonAnswer({ user, made: made === undefined ? null : madeJson(made) }, noStore);
      return createdAnswer(`${deps.publicUrl(request.raw)}/api/users/${user.id}`, answer);
    },
  });
}

function showUser(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/users/{id}",
    params,
    right: gatewayAdmin,
    operation: {
      id: "showUser",
      tag,
      summary: "One user",
      responses: answers(shapes.user, "The user.", [304, 404]),
    },
    handle: ({ params: { id } }) => answerUser(requirePeople(deps), id),
  });
}

function renameUser(deps: RestDeps): Route {
  return route({
    method: "PATCH",
    path: "/api/users/{id}",
    params,
    right: gatewayAdmin,
    operation: {
      id: "renameUser",
      tag,
      summary: "Give a user another name, or an e-mail address",
      description:
        "Of a provider with `linkByEmail`, whoever comes with that address, verified, is taken for this user. " +
        `Giving an address: ${recentOnly}`,
      body: changed,
      responses: answers(shapes.user, "The user after that.", [404, 409, 412, 415]),
    },
    async handle(request) {
      const { name, email } = checkPart(changed, "body", request.body);
      const { id } = request.params;
      const about = { name, email: email === null ? "" : email };
      const changes = changesBy(deps, request);
      if (about.email !== undefined && about.email !== "") requireRecentLogin(loginAgeMs(deps, request.raw));
      await changes.changeUser({ user: id, ...about, expected: expectedOf(request.raw) });
      return answerUser(requirePeople(deps), id);
    },
  });
}

function removeUser(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/users/{id}",
    params,
    right: gatewayAdmin,
    operation: {
      id: "removeUser",
      tag,
      summary: "Remove a user, with all memberships and tokens",
      responses: answers(shapes.done, "The user is gone.", [404, 409]),
    },
    async handle(request) {
      await changesBy(deps, request).removeUser(request.params.id);
      return doneAnswer();
    },
  });
}

function setStatus(deps: RestDeps, verb: string, status: UserRow["status"]): Route {
  return route({
    method: "POST",
    path: `/api/users/{id}/${verb}`,
    params,
    right: gatewayAdmin,
    operation: {
      id: `${verb}User`,
      tag,
      summary: verb === "disable" ? "Lock a user out, at once" : "Let a user in again",
      responses: answers(shapes.user, "The user after that.", [404, 409, 412, 415]),
    },
    async handle(request) {
      const { id } = request.params;
      await changesBy(deps, request).changeUser({ user: id, status, expected: expectedOf(request.raw) });
      return answerUser(requirePeople(deps), id);
    },
  });
}

function setRole(deps: RestDeps): Route {
  return route({
    method: "PUT",
    path: "/api/users/{id}/role",
    params,
    right: gatewayAdmin,
    operation: {
      id: "setUserRole",
      tag,
      summary: "Make a user an admin of the gateway, or none",
      description: `Nobody changes their own role, and the last admin stays one. Making an admin: ${recentOnly}`,
      body: withRole,
      responses: answers(shapes.user, "The user after that.", [404, 409, 412, 415]),
    },
    async handle(request) {
      const { role } = checkPart(withRole, "body", request.body);
      const { id } = request.params;
      const changes = changesBy(deps, request);
      if (role === "admin") requireRecentLogin(loginAgeMs(deps, request.raw));
      await changes.changeUser({ user: id, role, expected: expectedOf(request.raw) });
      return answerUser(requirePeople(deps), id);
    },
  });
}

const revoked = z.object({ revoked: z.int() }).meta({ id: "RevokedPersonalTokens" });

function revokeTokens(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/users/{id}/tokens",
    params,
    right: gatewayAdmin,
    operation: {
      id: "revokeUserTokens",
      tag,
      summary: "Revoke all tokens of a user, in all teams",
      responses: answers(revoked, "How many there were.", [404]),
    },
    async handle(request) {
      return jsonAnswer({ revoked: await changesBy(deps, request).resetUser(request.params.id) }, noStore);
    },
  });
}

/** By id or by name. Throws PERSON_UNKNOWN. */
export function findUser(book: RestPeople["book"], id: string): UserRow {
  const found = book.users.get(id) ?? book.userNamed(id);
  if (found === undefined)
    throw new GatewayError("PERSON_UNKNOWN", "there is no such user", { hint: "GET /api/users lists them." });
  return found;
}

function answerUser({ book }: RestPeople, id: string) {
  const row = findUser(book, id);
  return revisedAnswer(row, toUser(book, row));
}

function toUser(book: RestPeople["book"], { id, name, role, status, email = "", createdAtMs }: UserRow) {
  const teams = book.membersOf(id).map(toMembership);
  return { id, name, role, status, email: email === "" ? null : email, created: toIso(createdAtMs), teams };
}
