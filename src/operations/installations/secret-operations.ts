import * as z from "zod";
import { teamAdmin, type Right } from "../../engine/policy/rights.ts";
import type { SecretLine } from "../../people/installations/secret-changes.ts";
import * as shapes from "./install-request.ts";
import { toIso } from "../request/people-request.ts";
import { done as doneShape } from "../people/people-schemas.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { done } from "../reply.ts";

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

export const listSecrets = operation({
  route: "GET /api/teams/{team}/secrets",
  params: z.object({ team: schemas.name }),
  right: reading,
  id: "listSecrets",
  tag,
  summary: "Which secrets a team has; never what they are",
  responses: answers(secretList, "All of them.", [404]),
  run(services, request) {
    const { installs, teamId, actor } = shapes.installRequest(services, request, request.params.team);
    return { secrets: installs.secrets.list(actor, teamId).map(toShown) };
  },
});

function toShown({ updatedAtMs, usedAtMs, ...line }: SecretLine) {
  return { ...line, updated: toIso(updatedAtMs), used: usedAtMs === null ? null : toIso(usedAtMs) };
}

const showSecret = operation({
  route: "GET /api/teams/{team}/secrets/{secret}",
  params,
  right: reading,
  id: "getSecret",
  tag,
  summary: "That a team has a secret; never what it is",
  responses: answers(secretLine, "When it was set, and when it was last used.", [404]),
  run(services, request) {
    const { team, secret } = request.params;
    const { installs, teamId, actor } = shapes.installRequest(services, request, team);
    return toShown(installs.secrets.find(actor, teamId, secret));
  },
});

export const putSecret = operation({
  route: "PUT /api/teams/{team}/secrets/{secret}",
  params,
  right: teamAdmin,
  id: "putSecret",
  tag,
  summary: "Set a secret of a team, which templates use as ${secret:NAME}",
  body: secretBody,
  responses: answers(doneShape, "It is encrypted, and cannot be read again.", [404, 415, 503]),
  async run(services, request) {
    const { team, secret } = request.params;
    const { installs, teamId, actor } = shapes.installRequest(services, request, team);
    const { value } = request.body;
    await installs.secrets.set(actor, teamId, { name: secret, text: value });
    return done;
  },
});

export const removeSecret = operation({
  route: "DELETE /api/teams/{team}/secrets/{secret}",
  params,
  right: teamAdmin,
  id: "removeSecret",
  tag,
  summary: "Remove a secret of a team",
  responses: answers(doneShape, "It is gone.", [404, 415]),
  async run(services, request) {
    const { team, secret } = request.params;
    const { installs, teamId, actor } = shapes.installRequest(services, request, team);
    await installs.secrets.remove(actor, teamId, secret);
    return done;
  },
});

/** The secrets of teams, whose values are never shown again. */
export const secretOperations: readonly Operation[] = [listSecrets, showSecret, putSecret, removeSecret];
