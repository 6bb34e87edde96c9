import * as z from "zod";
import { teamAdmin, teamReading, type Right } from "../../engine/policy/rights.ts";
import { instanceStatuses } from "../../kernel/status-words.ts";
import type { InstallationPatch, NewInstallation } from "../../people/installations/install-changes.ts";
import { viewInstallation, type InstallationView } from "../../people/installations/install-view.ts";
import * as shapes from "./install-request.ts";
import { expectedOf } from "../request/people-request.ts";
import { done as doneShape } from "../people/people-schemas.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { revised, done } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Servers of teams";
const teamParams = z.object({ team: schemas.name });
export const installationParams = z.object({
  team: schemas.name,
  installation: schemas.name.describe("Its id, or its name in the team."),
});

/** Every member of the team may look: the views show members less than admins. */
const looking: Right = teamReading;

const listed = shapes.installation
  .extend({
    status: z.enum(instanceStatuses).nullable().describe("Of what runs for the asker; null where nothing does."),
    dormant: z.boolean().describe("Whether a call starts it."),
  })
  .meta({ id: "ListedInstallation" });
const list = z.object({ installations: z.array(listed) }).meta({ id: "InstallationList" });
const newInstallation = z.object({
  template: z.string().max(300).describe("The id or name of a template, or `file:` and a key of the configuration."),
  slug: z.string().max(63).optional(),
  name: z.string().max(200).optional(),
  scope: shapes.scope.optional(),
  values: shapes.values.optional(),
  locks: shapes.paths.optional().describe("Values that members cannot change."),
  settings: shapes.settings.optional(),
});
const patch = newInstallation
  .pick({ name: true, scope: true, locks: true, settings: true })
  .extend({ enabled: z.boolean().optional() });

export const listInstallations = operation({
  route: "GET /api/teams/{team}/installations",
  params: teamParams,
  right: looking,
  id: "listInstallations",
  tag,
  summary: "The servers of a team: those of the configuration file first, which everybody has",
  responses: answers(list, "All of them.", [404]),
  run(services, request) {
    const { installs, teamId, actor } = shapes.installRequest(services, request, request.params.team);
    const own = installs.book.ofTeam(teamId).map((row) => viewInstallation(installs, row, actor));
    const instances = services.instancesOf(request.principal);
    const listed = [...installs.fileServers().map(fromFile), ...own].map((view) => {
      const held = instances.find(({ server }) =>
        view.source === "db" ? server.installed?.id === view.id : `file:${server.key}` === view.id,
      );
      return { ...view, status: held?.status ?? null, dormant: held?.state.kind === "dormant" };
    });
    return { installations: listed };
  },
});

/** A server of the file, as one that cannot be changed here. */
function fromFile({ key, slug, displayName, transport, scope, disabledReason }: FileServer): InstallationView {
  return {
    ...{ id: `file:${key}`, slug, name: displayName, source: "file", template: `file:${key}`, scope },
    ...{ transport: transport.kind, enabled: disabledReason === undefined, locks: [], settings: {} },
    ...{ revision: 0, missing: [] },
  };
}

type FileServer = ReturnType<NonNullable<ReturnType<Services["people"]>>["installs"]["fileServers"]>[number];

export const addInstallation = operation({
  route: "POST /api/teams/{team}/installations",
  params: teamParams,
  right: teamAdmin,
  id: "addInstallation",
  tag,
  summary: "Install a server for a team",
  body: newInstallation,
  responses: answers(shapes.installation, "It runs for a member at that member's first request.", [404, 409, 415]),
  async run(services, request) {
    const { installs, teamId, actor } = shapes.installRequest(services, request, request.params.team);
    const { settings, ...given } = request.body;
    const asked: NewInstallation = {
      ...given,
      ...(settings === undefined ? {} : { settings: shapes.toSettings(settings) }),
    };
    const row = await installs.changes.install(actor, teamId, asked);
    return revised(row, viewInstallation(installs, row, actor));
  },
});

const showInstallation = operation({
  route: "GET /api/teams/{team}/installations/{installation}",
  params: installationParams,
  right: looking,
  id: "getInstallation",
  tag,
  summary: "One server of a team",
  responses: answers(shapes.installation, "With the values that are missing before it can be used.", [304, 404]),
  run(services, request) {
    const { team, installation } = request.params;
    const { installs, teamId, actor } = shapes.installRequest(services, request, team);
    const ofFile = installs
      .fileServers()
      .find(({ key, slug }) => `file:${key}` === installation || slug === installation);
    if (ofFile !== undefined) return fromFile(ofFile);
    const row = installs.changes.find(teamId, installation);
    return revised(row, viewInstallation(installs, row, actor));
  },
});

const changeInstallation = operation({
  route: "PATCH /api/teams/{team}/installations/{installation}",
  params: installationParams,
  right: teamAdmin,
  id: "changeInstallation",
  tag,
  summary: "Rename, lock, switch or limit a server of a team",
  body: patch,
  responses: answers(shapes.installation, "The server after that.", [404, 409, 412, 415]),
  async run(services, request) {
    const { team, installation } = request.params;
    const { installs, teamId, actor } = shapes.installRequest(services, request, team);
    const { settings, ...given } = request.body;
    const asked: InstallationPatch = {
      ...given,
      ...(settings === undefined ? {} : { settings: shapes.toSettings(settings) }),
      revision: expectedOf(request),
    };
    const row = await installs.changes.change(actor, teamId, installation, asked);
    return revised(row, viewInstallation(installs, row, actor));
  },
});

export const removeInstallation = operation({
  route: "DELETE /api/teams/{team}/installations/{installation}",
  params: installationParams,
  right: teamAdmin,
  id: "removeInstallation",
  tag,
  summary: "Take a server away from a team, with everything that was set for it",
  responses: answers(doneShape, "Its processes end.", [404, 409, 415]),
  async run(services, request) {
    const { team, installation } = request.params;
    const { installs, teamId, actor } = shapes.installRequest(services, request, team);
    await installs.changes.uninstall(actor, teamId, installation);
    return done;
  },
});

function switchInstallation(what: "enable" | "disable"): Operation {
  return operation({
    route: `POST /api/teams/{team}/installations/{installation}/${what}`,
    params: installationParams,
    right: teamAdmin,
    id: `${what}Installation`,
    tag,
    summary: what === "enable" ? "Switch a server of a team on" : "Switch a server of a team off",
    responses: answers(shapes.installation, "The server after that.", [404, 409, 412, 415]),
    async run(services, request) {
      const { team, installation } = request.params;
      const { installs, teamId, actor } = shapes.installRequest(services, request, team);
      const asked = { enabled: what === "enable", revision: expectedOf(request) };
      const row = await installs.changes.change(actor, teamId, installation, asked);
      return revised(row, viewInstallation(installs, row, actor));
    },
  });
}

/** What a team installed. */
export const installationOperations: readonly Operation[] = [
  listInstallations,
  addInstallation,
  showInstallation,
  changeInstallation,
  removeInstallation,
  switchInstallation("enable"),
  switchInstallation("disable"),
];
