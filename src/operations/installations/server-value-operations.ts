import * as z from "zod";
import { dataOwner, teamAdmin, teamReading, type Right } from "../../engine/policy/rights.ts";
import {
  viewOwnValues,
  viewTeamValues,
  viewWhatMemberSet,
  type ValuesView,
} from "../../people/installations/install-view.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import * as shapes from "./install-request.ts";
import { expectedOf, requirePeople, toIso } from "../request/people-request.ts";
import { answers } from "../responses.ts";
import { installationParams } from "./installation-operations.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { revised, type Reply } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Servers of teams";
/** One's own values are as good as a credential at the server behind. */
const own: Right = { role: "member", scope: "mcp:admin" };
const body = z.object({
  values: shapes.values.describe("By path; null takes a value away."),
  address: z
    .string()
    .max(2_000)
    .nullable()
    .optional()
    .describe("The `address` that was read: refused with REVISION_MISMATCH when the server leads elsewhere by now."),
});

/** Both need only the fields that they name; they differ in what becomes of the others. */
const writings = [
  { method: "PATCH", verb: "set", what: "Set", others: "Others stay." },
  {
    method: "PUT",
    verb: "replace",
    what: "Replace all",
    others:
      "Whatever else is set is taken away, secrets too: they cannot be read, so use PATCH to change values that " +
      "were read.",
  },
] as const;
type Writing = (typeof writings)[number];

function toReply({ revision, address, fields }: ValuesView): Reply {
  const shown = fields.map(({ updatedAtMs, ...field }) => ({
    ...field,
    updatedAt: updatedAtMs === null ? null : toIso(updatedAtMs),
  }));
  return revised({ revision }, { revision, address, fields: shown });
}

export const showTeamValues = operation({
  route: "GET /api/teams/{team}/installations/{installation}/config/team",
  params: installationParams,
  right: teamReading,
  id: "getTeamValues",
  tag,
  summary: "What a team set for a server; members do not see what is locked or hidden",
  responses: answers(shapes.valueList, "The fields, without any secret.", [304, 404, 409]),
  run(services, request) {
    const { installs, teamId, actor } = shapes.installRequest(services, request, request.params.team);
    return toReply(viewTeamValues(installs, installs.changes.find(teamId, request.params.installation), actor));
  },
});

function setTeamValues<W extends Writing>({ method, verb, what, others }: W) {
  return operation({
    route: `${method as W["method"]} /api/teams/{team}/installations/{installation}/config/team`,
    params: installationParams,
    right: teamAdmin,
    id: `${verb}TeamValues`,
    tag,
    summary: `${what} values of a team for a server`,
    description: others,
    body,
    responses: answers(shapes.valueList, "The fields after that.", [404, 409, 412, 415]),
    async run(services, request) {
      const { team, installation } = request.params;
      const { installs, teamId, actor } = shapes.installRequest(services, request, team);
      const { values, address } = request.body;
      const given = { values, address, isWhole: method === "PUT", revision: expectedOf(request) };
      await installs.changes.setTeamValues(actor, teamId, installation, given);
      return toReply(viewTeamValues(installs, installs.changes.find(teamId, installation), actor));
    },
  });
}

export const patchTeamValues = setTeamValues(writings[0]);

function ownView(
  services: Services,
  request: Parameters<typeof shapes.installRequest>[1],
  params: z.output<typeof installationParams>,
) {
  const { installs, teamId, actor } = shapes.installRequest(services, request, params.team);
  const { membership } = actor;
  if (membership?.teamId !== teamId)
    throw new GatewayError("INSTALLATION_UNKNOWN", "you have no server of your own in this team");
  const show = (): Reply => {
    const { id, tiered } = installs.changes.forMember(teamId, params.installation);
    return toReply(viewOwnValues(installs, tiered, { installationId: id, membershipId: membership.id, teamId }));
  };
  return { installs, actor, show };
}

export const showOwnValues = operation({
  route: "GET /api/teams/{team}/installations/{installation}/config/me",
  params: installationParams,
  right: teamReading,
  id: "getOwnValues",
  tag,
  summary: "What one has set for a server oneself; also for servers of the configuration file",
  responses: answers(shapes.valueList, "The fields, without any secret.", [304, 404]),
  run: (services, request) => ownView(services, request, request.params).show(),
});

function setOwnValues<W extends Writing>({ method, verb, what, others }: W) {
  return operation({
    route: `${method as W["method"]} /api/teams/{team}/installations/{installation}/config/me`,
    params: installationParams,
    right: own,
    id: `${verb}OwnValues`,
    tag,
    summary: `${what} values of one's own for a server`,
    description: others,
    body,
    responses: answers(shapes.valueList, "The fields after that.", [404, 412, 415]),
    async run(services, request) {
      const { installs, actor, show } = ownView(services, request, request.params);
      const { values, address } = request.body;
      const given = { values, address, isWhole: method === "PUT", revision: expectedOf(request) };
      await installs.changes.setOwnValues(actor, request.params.installation, given);
      return show();
    },
  });
}

export const patchOwnValues = setOwnValues(writings[0]);

const showMemberPaths = operation({
  route: "GET /api/teams/{team}/installations/{installation}/members/{member}/config",
  params: installationParams.extend({ member: schemas.name }),
  right: { role: "team-admin", scope: "mcp:read" },
  id: "getMemberValues",
  tag,
  summary: "Which fields a member has set, without any value",
  responses: answers(z.object({ set: z.array(z.string()) }), "Their paths.", [404]),
  run(services, request) {
    const { team, installation, member } = request.params;
    const { installs, teamId } = shapes.installRequest(services, request, team);
    const found = requirePeople(services).book.members.get(member);
    if (found?.team.id !== teamId) throw new GatewayError("PERSON_UNKNOWN", "there is no such member");
    const { id } = installs.changes.forMember(teamId, installation);
    const set = viewWhatMemberSet(installs, { installationId: id, membershipId: member, teamId });
    return { set };
  },
});

const memberParams = installationParams.extend({ member: schemas.name.describe("The user's name.") });

/** The membership in the team of a path, and who writes its values. Throws PERSON_UNKNOWN. */
function ofMember(
  services: Services,
  request: Parameters<typeof shapes.installRequest>[1],
  params: z.output<typeof memberParams>,
) {
  const { team, installation, member: name } = params;
  const { installs, teamId, actor } = shapes.installRequest(services, request, team);
  const found = requirePeople(services)
    .book.membersIn(teamId)
    .find(({ user }) => user.name === name);
  if (found === undefined)
    throw new GatewayError("PERSON_UNKNOWN", `${JSON.stringify(name.slice(0, 100))} is not in ${team}`);
  const { id, role } = found.row;
  const show = (): Reply => {
    const { id: installationId, tiered } = installs.changes.forMember(teamId, installation);
    return toReply(viewOwnValues(installs, tiered, { installationId, membershipId: id, teamId }));
  };
  return { installs, show, actor: { ...actor, membership: { id, teamId, role } } };
}

export const showMemberValues = operation({
  route: "GET /api/teams/{team}/installations/{installation}/members/{member}/values",
  params: memberParams,
  right: dataOwner,
  id: "showMemberValues",
  tag,
  summary: "What a member has set for a server",
  description: "By the gateway's owner alone, with a command on its machine.",
  responses: answers(shapes.valueList, "The fields, without any secret.", [404]),
  run: (services, request) => ofMember(services, request, request.params).show(),
});

export const setMemberValues = operation({
  route: "PATCH /api/teams/{team}/installations/{installation}/members/{member}/values",
  params: memberParams,
  right: dataOwner,
  id: "setMemberValues",
  tag,
  summary: "Set values of a member for a server",
  description: "By the gateway's owner alone, with a command on its machine. Others stay.",
  body,
  responses: answers(shapes.valueList, "The fields after that.", [404, 415]),
  async run(services, request) {
    const { installs, actor, show } = ofMember(services, request, request.params);
    const { values, address } = request.body;
    await installs.changes.setOwnValues(actor, request.params.installation, { values, address });
    return show();
  },
});

/** What teams and their members set for servers. */
export const serverValueOperations: readonly Operation[] = [
  showTeamValues,
  patchTeamValues,
  setTeamValues(writings[1]),
  showOwnValues,
  patchOwnValues,
  setOwnValues(writings[1]),
  showMemberPaths,
  showMemberValues,
  setMemberValues,
];
