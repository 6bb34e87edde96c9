import * as z from "zod";
import { teamAdmin, teamReading, type Right } from "../../engine/policy/rights.ts";
import {
  viewOwnValues,
  viewTeamValues,
  viewWhatMemberSet,
  type ValuesView,
} from "../../people/installations/install-view.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { jsonAnswer, type Answer } from "./answer.ts";
import type { RestDeps } from "./deps.ts";
import * as shapes from "./install-request.ts";
import { checkPart } from "./part-check.ts";
import { doneAnswer, expectedOf, noStore, requirePeople, revisedAnswer, toIso } from "./people-request.ts";
import { done } from "./people-schemas.ts";
import { answers } from "./responses.ts";
import { route, type Route } from "./route.ts";
import { installationParams } from "./routes-installations.ts";
import * as schemas from "./schemas.ts";

const tag = "Servers of teams";
/** One's own values are as good as a credential at the server behind. */
const own: Right = { role: "member", scope: "mcp:admin" };
const body = z.object({ values: shapes.values.describe("By path; null takes a value away. Others stay.") });
const secretParams = z.object({ team: schemas.name, secret: schemas.name });
const secretBody = z.object({ value: z.string().min(1).max(65_536) });
const secretList = z
  .object({
    secrets: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        server: schemas.nullableText.describe("The server whose field it is; null for one of the whole team."),
        updated: z.string(),
        used: schemas.nullableText.describe("The hour in which it last reached a server."),
      }),
    ),
  })
  .meta({ id: "SecretList" });

/** Values of servers, and secrets. */
export function createServerValueRoutes(deps: RestDeps): readonly Route[] {
  return [
    showTeamValues(deps),
    setTeamValues(deps),
    showOwnValues(deps),
    setOwnValues(deps),
    showMemberPaths(deps),
    listSecrets(deps),
    putSecret(deps),
    removeSecret(deps),
  ];
}

function toAnswer({ revision, fields }: ValuesView): Answer {
  const shown = fields.map(({ updatedAtMs, ...field }) => ({
    ...field,
    updatedAt: updatedAtMs === null ? null : toIso(updatedAtMs),
  }));
  return revisedAnswer({ revision }, { revision, fields: shown });
}

function showTeamValues(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/installations/{installation}/config/team",
    params: installationParams,
    right: teamReading,
    operation: {
      id: "getTeamValues",
      tag,
      summary: "What a team set for a server; members do not see what is locked or hidden",
      responses: answers(shapes.valueList, "The fields, without any secret.", [304, 404, 409]),
    },
    handle(request) {
      const { installs, teamId, actor } = shapes.installRequest(deps, request, request.params.team);
      return toAnswer(viewTeamValues(installs, installs.changes.find(teamId, request.params.installation), actor));
    },
  });
}

function setTeamValues(deps: RestDeps): Route {
  return route({
    method: "PATCH",
    path: "/api/teams/{team}/installations/{installation}/config/team",
    params: installationParams,
    right: teamAdmin,
    operation: {
      id: "setTeamValues",
      tag,
      summary: "Set values of a team for a server",
      body,
      responses: answers(shapes.valueList, "The fields after that.", [404, 409, 412, 415]),
    },
    async handle(request) {
      const { team, installation } = request.params;
      const { installs, teamId, actor } = shapes.installRequest(deps, request, team);
      const { values } = checkPart(body, "body", request.body);
      await installs.changes.setTeamValues(actor, teamId, installation, { values, revision: expectedOf(request.raw) });
      return toAnswer(viewTeamValues(installs, installs.changes.find(teamId, installation), actor));
    },
  });
}

function ownView(
  deps: RestDeps,
  request: Parameters<typeof shapes.installRequest>[1],
  params: z.output<typeof installationParams>,
) {
  const { installs, teamId, actor } = shapes.installRequest(deps, request, params.team);
  const { membership } = actor;
  if (membership?.teamId !== teamId)
    throw new GatewayError("INSTALLATION_UNKNOWN", "you have no server of your own in this team");
  const show = (): Answer => {
    const { id, tiered } = installs.changes.forMember(teamId, params.installation);
    return toAnswer(viewOwnValues(installs, tiered, { installationId: id, membershipId: membership.id, teamId }));
  };
  return { installs, actor, show };
}

function showOwnValues(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/installations/{installation}/config/me",
    params: installationParams,
    right: teamReading,
    operation: {
      id: "getOwnValues",
      tag,
      summary: "What one has set for a server oneself; also for servers of the configuration file",
      responses: answers(shapes.valueList, "The fields, without any secret.", [304, 404]),
    },
    handle: (request) => ownView(deps, request, request.params).show(),
  });
}

function setOwnValues(deps: RestDeps): Route {
  return route({
    method: "PATCH",
    path: "/api/teams/{team}/installations/{installation}/config/me",
    params: installationParams,
    right: own,
    operation: {
      id: "setOwnValues",
      tag,
      summary: "Set values of one's own for a server",
      body,
      responses: answers(shapes.valueList, "The fields after that.", [404, 412, 415]),
    },
    async handle(request) {
      const { installs, actor, show } = ownView(deps, request, request.params);
      const { values } = checkPart(body, "body", request.body);
      const given = { values, revision: expectedOf(request.raw) };
      await installs.changes.setOwnValues(actor, request.params.installation, given);
      return show();
    },
  });
}

function showMemberPaths(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/installations/{installation}/members/{member}/config",
    params: installationParams.extend({ member: schemas.name }),
    right: { role: "team-admin", scope: "mcp:read" },
    operation: {
      id: "getMemberValues",
      tag,
      summary: "Which fields a member has set, without any value",
      responses: answers(z.object({ set: z.array(z.string()) }), "Their paths.", [404]),
    },
    handle(request) {
      const { team, installation, member } = request.params;
      const { installs, teamId } = shapes.installRequest(deps, request, team);
      const found = requirePeople(deps).book.members.get(member);
      if (found?.team.id !== teamId) throw new GatewayError("PERSON_UNKNOWN", "there is no such member");
      const { id } = installs.changes.forMember(teamId, installation);
      const set = viewWhatMemberSet(installs, { installationId: id, membershipId: member, teamId });
      return jsonAnswer({ set }, noStore);
    },
  });
}

function listSecrets(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/secrets",
    params: z.object({ team: schemas.name }),
    right: { role: "team-admin", scope: "mcp:read" },
    operation: {
      id: "listSecrets",
      tag,
      summary: "Which secrets a team has; never what they are",
      responses: answers(secretList, "All of them.", [404]),
    },
    handle(request) {
      const { installs, teamId, actor } = shapes.installRequest(deps, request, request.params.team);
      const secrets = installs.secrets.list(actor, teamId).map(({ updatedAtMs, usedAtMs, ...line }) => ({
        ...line,
        updated: toIso(updatedAtMs),
        used: usedAtMs === null ? null : toIso(usedAtMs),
      }));
      return jsonAnswer({ secrets }, noStore);
    },
  });
}

function putSecret(deps: RestDeps): Route {
  return route({
    method: "PUT",
    path: "/api/teams/{team}/secrets/{secret}",
    params: secretParams,
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
    params: secretParams,
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
