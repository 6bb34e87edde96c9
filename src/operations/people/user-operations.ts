import * as z from "zod";
import { gatewayAdmin, requireRecentLogin } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { UserRow } from "../../store/people-rows.ts";
import { changesBy, expectedOf, madeJson, pageOf, requirePeople, toIso } from "../request/people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "../responses.ts";
import { toMembership } from "./me-operations.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { revised, created, done } from "../reply.ts";
import type { RestPeople } from "../services.ts";

const tag = "People";
const params = z.object({ id: schemas.name });
const usualDays = 90;
/** The thief of a token must not make themselves an admin who logs in with a browser, or log in as one. */
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

export const listUsers = operation({
  route: "GET /api/users",
  query: z.object(shapes.listParameters),
  right: gatewayAdmin,
  id: "listUsers",
  tag,
  summary: "All users, by name",
  responses: answers(userList, "One page."),
  run(services, { query }) {
    const { book } = requirePeople(services);
    const { rows, nextCursor } = pageOf([...book.users.values()], ({ name }) => name, query);
    return { users: rows.map((row) => toUser(book, row)), nextCursor };
  },
});

export const addUser = operation({
  route: "POST /api/users",
  right: gatewayAdmin,
  id: "addUser",
  tag,
  summary: "Add a user",
  description: `An admin of the gateway, or somebody with an e-mail address: ${recentOnly}`,
  body: newUser,
  responses: creations(madeUser, "The user, and with a team the first token.", [404, 409, 415]),
  async run(services, request) {
    const given = request.body;
    const { name, admin = false, team, role = "member", days = usualDays, email } = given;
    const changes = changesBy(services, request);
    // With an address, a person who comes with it from a provider with `linkByEmail` is that user.
    if (admin || email !== undefined) requireRecentLogin(request.loginAgeMs());
    const made = await changes.addUser({ name, isAdmin: admin, team, role, days, email });
    const { book } = requirePeople(services);
    const user = toUser(book, findUser(book, name));
    const answer = { user, made: made === undefined ? null : madeJson(made) };
    return created(`/api/users/${user.id}`, answer);
  },
});

const showUser = operation({
  route: "GET /api/users/{id}",
  params,
  right: gatewayAdmin,
  id: "showUser",
  tag,
  summary: "One user",
  responses: answers(shapes.user, "The user.", [304, 404]),
  run: (services, { params: { id } }) => answerUser(requirePeople(services), id),
});

export const renameUser = operation({
  route: "PATCH /api/users/{id}",
  params,
  right: gatewayAdmin,
  id: "renameUser",
  tag,
  summary: "Give a user another name, or an e-mail address",
  description:
    "Of a provider with `linkByEmail`, a person with that address, verified, is taken for this user. " +
    `Giving an address: ${recentOnly}`,
  body: changed,
  responses: answers(shapes.user, "The user after that.", [404, 409, 412, 415]),
  async run(services, request) {
    const { name, email } = request.body;
    const { id } = request.params;
    const about = { name, email: email === null ? "" : email };
    const changes = changesBy(services, request);
    if (about.email !== undefined && about.email !== "") requireRecentLogin(request.loginAgeMs());
    await changes.changeUser({ user: id, ...about, expected: expectedOf(request) });
    return answerUser(requirePeople(services), id);
  },
});

export const removeUser = operation({
  route: "DELETE /api/users/{id}",
  params,
  right: gatewayAdmin,
  id: "removeUser",
  tag,
  summary: "Remove a user, with all memberships and tokens",
  responses: answers(shapes.done, "The user is gone.", [404, 409]),
  async run(services, request) {
    await changesBy(services, request).removeUser(request.params.id);
    return done;
  },
});

function setStatus<Verb extends "disable" | "enable">(verb: Verb, status: UserRow["status"]) {
  return operation({
    route: `POST /api/users/{id}/${verb}`,
    params,
    right: gatewayAdmin,
    id: `${verb}User`,
    tag,
    summary: verb === "disable" ? "Lock a user out, at once" : "Let a user in again",
    responses: answers(shapes.user, "The user after that.", [404, 409, 412, 415]),
    async run(services, request) {
      const { id } = request.params;
      await changesBy(services, request).changeUser({ user: id, status, expected: expectedOf(request) });
      return answerUser(requirePeople(services), id);
    },
  });
}

export const disableUser = setStatus("disable", "disabled");
export const enableUser = setStatus("enable", "active");

export const setRole = operation({
  route: "PUT /api/users/{id}/role",
  params,
  right: gatewayAdmin,
  id: "setUserRole",
  tag,
  summary: "Make a user an admin of the gateway, or none",
  description: `Nobody changes their own role, and the last admin stays one. Making an admin: ${recentOnly}`,
  body: withRole,
  responses: answers(shapes.user, "The user after that.", [404, 409, 412, 415]),
  async run(services, request) {
    const { role } = request.body;
    const { id } = request.params;
    const changes = changesBy(services, request);
    if (role === "admin") requireRecentLogin(request.loginAgeMs());
    await changes.changeUser({ user: id, role, expected: expectedOf(request) });
    return answerUser(requirePeople(services), id);
  },
});

const revoked = z.object({ revoked: z.int() }).meta({ id: "RevokedPersonalTokens" });

export const revokeTokens = operation({
  route: "DELETE /api/users/{id}/tokens",
  params,
  right: gatewayAdmin,
  id: "revokeUserTokens",
  tag,
  summary: "Revoke all tokens of a user, in all teams",
  responses: answers(revoked, "How many there were.", [404]),
  async run(services, request) {
    return { revoked: await changesBy(services, request).resetUser(request.params.id) };
  },
});

/** By id or by name. Throws PERSON_UNKNOWN. */
export function findUser(book: RestPeople["book"], id: string): UserRow {
  const found = book.users.get(id) ?? book.userNamed(id);
  if (found === undefined)
    throw new GatewayError("PERSON_UNKNOWN", "there is no such user", {
      hint: "`toolyard user list` and GET /api/users list them.",
    });
  return found;
}

function answerUser({ book }: RestPeople, id: string) {
  const row = findUser(book, id);
  return revised(row, toUser(book, row));
}

function toUser(book: RestPeople["book"], { id, name, role, status, email = "", createdAtMs }: UserRow) {
  const teams = book.membersOf(id).map(toMembership);
  return { id, name, role, status, email: email === "" ? null : email, created: toIso(createdAtMs), teams };
}

/** The users of the gateway, for its admins. */
export const userOperations: readonly Operation[] = [
  listUsers,
  addUser,
  showUser,
  renameUser,
  removeUser,
  disableUser,
  enableUser,
  setRole,
  revokeTokens,
];
