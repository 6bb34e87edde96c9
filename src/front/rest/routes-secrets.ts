import * as z from "zod";
import { teamAdmin, type Right } from "../../engine/policy/rights.ts";
import type { SecretLine } from "../../people/installations/secret-changes.ts";
import { jsonAnswer } from "./answer.ts";
import type { RestDeps } from "./deps.ts";
import * as shapes from "./install-request.ts";
import { checkPart } from "./part-check.ts";
import { doneAnswer, noStore, toIso } from "./people-request.ts";
import { done } from "./people-schemas.ts";
import { answers } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Servers of teams";
/** Admins of a team see that secrets exist. */
const reading: Right = { role: "team-admin", scope: "mcp:read" };
const params = z.object({ team: schemas.name, secret: schemas.name.describe("Its name, or its id.") });
const secretBody = z.object({ value: z.string().min(1).max(65_536) });
const secretLine = z
  .object({
    id: z.string(),
    name: z.string(),
    server: schemas.nullableText.describe("The server whose field it is; null for one of the whole team."),
    updated: z.string(),
    used: schemas.nullableText.describe("The hour in which it last reached a server."),
  })
  .meta({ id: "Secret" });
const secretList = z.object({ secrets: z.array(secretLine) }).meta({ id: "SecretList" });

/** The secrets of teams, of which nobody sees the value again. */
export function createSecretRoutes(deps: RestDeps): readonly Route[] {
  return [listSecrets(deps), showSecret(deps), putSecret(deps), removeSecret(deps)];
}

function listSecrets(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/secrets",
    params: z.object({ team: schemas.name }),
    right: reading,
    operation: {
      id: "listSecrets",
      tag,
      summary: "Which secrets a team has; never what they are",
      responses: answers(secretList, "All of them.", [404]),
    },
    handle(request) {
      const { installs, teamId, actor } = shapes.installRequest(deps, request, request.params.team);
      return jsonAnswer({ secrets: installs.secrets.list(actor, teamId).map(toShown) }, noStore);
    },
  });
}

function toShown({ updatedAtMs, usedAtMs, ...line }: SecretLine) {
  return { ...line, updated: toIso(updatedAtMs), used: usedAtMs === null ? null : toIso(usedAtMs) };
}

function showSecret(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/secrets/{secret}",
    params,
    right: reading,
    operation: {
      id: "getSecret",
      tag,
      summary: "That a team has a secret; never what it is",
      responses: answers(secretLine, "When it was set, and when it was last used.", [404]),
    },
    handle(request) {
      const { team, secret } = request.params;
      const { installs, teamId, actor } = shapes.installRequest(deps, request, team);
      return jsonAnswer(toShown(installs.secrets.find(actor, teamId, secret)), noStore);
    },
  });
}

function putSecret(deps: RestDeps): Route {
  return route({
    method: "PUT",
    path: "/api/teams/{team}/secrets/{secret}",
    params,
    right: teamAdmin,
    operation: {
      id: "putSecret",
      tag,
      summary: "Set a secret of a team, which templates use as ${secret:NAME}",
      body: secretBody,
      responses: answers(done, "It is encrypted, and cannot be read again.", [404, 415, 503]),
    },
    async handle(request) {
      const { team, secret } = request.params;
      const { installs, teamId, actor } = shapes.installRequest(deps, request, team);
      const { value } = checkPart(secretBody, "body", request.body);
      await installs.secrets.set(actor, teamId, { name: secret, text: value });
      return doneAnswer();
    },
  });
}

function removeSecret(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/teams/{team}/secrets/{secret}",
    params,
    right: teamAdmin,
    operation: {
      id: "removeSecret",
      tag,
      summary: "Remove a secret of a team",
      responses: answers(done, "It is gone.", [404, 415]),
    },
    async handle(request) {
      const { team, secret } = request.params;
      const { installs, teamId, actor } = shapes.installRequest(deps, request, team);
      await installs.secrets.remove(actor, teamId, secret);
      return doneAnswer();
    },
  });
}
