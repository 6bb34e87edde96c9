import * as z from "zod";
import { teamAdmin, teamReading, type Right } from "../../engine/policy/rights.ts";
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
      "Whatever else is set is taken away, secrets too: they cannot be read, so use PATCH to change values that were read.",
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

const showTeamValues = operation({
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

function setTeamValues({ method, verb, what, others }: Writing): Operation {
  return operation({
    route: `${method} /api/teams/{team}/installations/{installation}/config/team`,
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

const showOwnValues = operation({
  route: "GET /api/teams/{team}/installations/{installation}/config/me",
  params: installationParams,
  right: teamReading,
  id: "getOwnValues",
  tag,
  summary: "What one has set for a server oneself; also for servers of the configuration file",
  responses: answers(shapes.valueList, "The fields, without any secret.", [304, 404]),
  run: (services, request) => ownView(services, request, request.params).show(),
});

function setOwnValues({ method, verb, what, others }: Writing): Operation {
  return operation({
    route: `${method} /api/teams/{team}/installations/{installation}/config/me`,
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

/** What teams and their members set for servers. */
export const serverValueOperations: readonly Operation[] = [
  showTeamValues,
  ...writings.map((how) => setTeamValues(how)),
  showOwnValues,
  ...writings.map((how) => setOwnValues(how)),
  showMemberPaths,
];
