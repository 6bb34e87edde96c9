import * as z from "zod";
import { noTeam, reading, teamAdmin } from "../../engine/policy/rights.ts";
import { toRegistryTemplate } from "../../config/registry/registry-template.ts";
import { isProcessKind } from "../../config/entry/transports.ts";
import { parseServerJson } from "../../config/registry/server-json.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { reaches, type Principal } from "../../kernel/principal.ts";
import type { Template } from "../../people/installations/template-catalog.ts";
import * as shapes from "./install-request.ts";
import { requireLoginForPrograms } from "../request/manager.ts";
import { expectedOf, requirePeople } from "../request/people-request.ts";
import { done as doneShape } from "../people/people-schemas.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { revised, done } from "../reply.ts";
import type { RestPeople, RestInstalls } from "../services.ts";

const tag = "Servers of teams";
const params = z.object({ template: schemas.name });
const entry = z.record(z.string(), z.unknown());
const made = z.object({ id: z.string(), slug: z.string(), revision: z.int() }).meta({ id: "MadeTemplate" });
const template = z
  .object({
    id: z.string(),
    slug: z.string(),
    source: z.enum(["own", "registry", "file"]),
    transport: z.string(),
    version: z.int(),
    team: schemas.nullableText.describe("The team whose own it is; null for one of all teams."),
    fields: z.array(z.unknown()).describe("What can be filled in, and by whom."),
  })
  .meta({ id: "Template" });
const list = z.object({ templates: z.array(template) }).meta({ id: "TemplateList" });
const newTemplate = z.object({
  slug: z.string().max(63),
  team: z.string().max(63).optional().describe("For this team alone; for all teams otherwise."),
  entry: entry.optional().describe("As in `mcpServers` of the configuration."),
  fields: z.array(z.unknown()).max(100).optional(),
  serverJson: entry.optional().describe("A `server.json` of the registry, instead of entry and fields."),
  from: z.string().max(20).optional().describe("Which of the things that it offers: npm, pypi, oci, nuget or remote."),
});
const patch = newTemplate.pick({ entry: true, fields: true });

export const listTemplates = operation({
  route: "GET /api/templates",
  query: z.object({
    team: z.string().max(63).optional().describe("For admins of the gateway: of which team."),
  }),
  right: reading,
  id: "listTemplates",
  tag,
  summary: "What one's team can install",
  description: "With a token for single servers, only what those were installed from.",
  responses: answers(list, "All of them.", [404]),
  run(services, { principal, query }) {
    const people = requirePeople(services);
    const { book, installs } = people;
    const teamId = query.team === undefined ? teamOf(book, principal) : namedTeam(book, principal, query.team);
    const isSeen = visibleTo(principal, installs, teamOf(book, principal));
    return {
      templates: installs.templates
        .list(teamId)
        .filter(isSeen)
        .map((one) => toShown(people, one)),
    };
  },
});

function teamOf(book: RestPeople["book"], { id }: Principal): string | undefined {
  return book.members.get(id)?.team.id;
}

/** Throws PERSON_UNKNOWN for another's team, as for one that is not there. */
function namedTeam(book: RestPeople["book"], { roles, team }: Principal, slug: string): string {
  const found = roles.includes("admin") || team === slug ? book.teamOf(slug) : undefined;
  if (found === undefined) throw noTeam();
  return found.id;
}

/** The holder of a token for single servers needs to know how those are filled in, and nothing of any other. */
function visibleTo(
  principal: Principal,
  { book }: RestInstalls,
  teamId: string | undefined,
): (template: Template) => boolean {
  // A token of a profile is of the configuration, whose servers come from no template.
  if (principal.profile !== undefined) return () => false;
  if (principal.only === undefined) return () => true;
  const installed = teamId === undefined ? [] : book.ofTeam(teamId).filter(({ slug }) => reaches(principal, slug));
  const used = new Set(installed.map(({ templateId }) => templateId));
  return ({ id, slug, source }) => used.has(id) || (source === "file" && reaches(principal, slug));
}

function toShown({ book, installs }: RestPeople, { id, slug, source, version, tiered: { server, fields } }: Template) {
  const shown = fields.filter(({ visible }) => visible);
  const team = book.teams.get(installs.book.templates.get(id)?.teamId ?? "")?.slug ?? null;
  return { id, slug, source, version, team, transport: server.transport.kind, fields: shown };
}

const showTemplate = operation({
  route: "GET /api/templates/{template}",
  params: z.object({ template: schemas.name.describe("Its id, or its name.") }),
  right: reading,
  id: "getTemplate",
  tag,
  summary: "One template, with what can be filled in",
  description: "Admins of the gateway see those of every team by their ids.",
  responses: answers(template, "Its ETag is what a change says in If-Match.", [304, 404]),
  run(services, { principal, params: asked }) {
    const people = requirePeople(services);
    const { book, installs } = people;
    const teamId = teamOf(book, principal);
    const found = installs.templates.find(teamId, asked.template, principal.roles.includes("admin"));
    if (visibleTo(principal, installs, teamId)(found)) return revised(found, toShown(people, found));
    throw new GatewayError("TEMPLATE_UNKNOWN", "there is no such template for your team");
  },
});

export const addTemplate = operation({
  route: "POST /api/templates",
  right: teamAdmin,
  id: "addTemplate",
  tag,
  summary: "Make a template: of a program or for all teams as an admin of the gateway only",
  body: newTemplate,
  responses: answers(made, "The template.", [404, 409, 415]),
  async run(services, request) {
    const { slug, team, ...given } = request.body;
    const { book, installs } = requirePeople(services);
    const teamId = team === undefined ? null : namedTeam(book, request.principal, team);
    const content = toContent(given);
    if (bringsProgram(content.entry)) requireLoginForPrograms(services, request);
    const row = await installs.templates.add(shapes.actorOf(services, request), { slug, teamId, ...content });
    return { id: row.id, slug: row.slug, revision: row.revision };
  },
});

function toContent({ entry: own, fields = [], serverJson, from }: Omit<z.output<typeof newTemplate>, "slug" | "team">) {
  if (serverJson === undefined) return { source: "own" as const, entry: own ?? {}, fields };
  return { source: "registry" as const, ...toRegistryTemplate(parseServerJson(serverJson), from) };
}

/** Whether it starts a program (also `docker`), or reads a file of this machine. Anything that is no plain address. */
function bringsProgram(entry: object): boolean {
  return !("url" in entry) || typeof entry.url !== "string" || "command" in entry || "envFile" in entry;
}

export const changeTemplate = operation({
  route: "PATCH /api/templates/{template}",
  params,
  right: teamAdmin,
  id: "changeTemplate",
  tag,
  summary: "Change a template; what was installed from it follows",
  body: patch,
  responses: answers(made, "The template after that.", [404, 409, 412, 415]),
  async run(services, request) {
    const { entry: own, fields } = request.body;
    const { installs } = requirePeople(services);
    const id = request.params.template;
    // Others than admins of the gateway are refused for other reasons, and learn nothing of another team's template.
    if (request.principal.roles.includes("admin")) {
      const { kind } = installs.templates.find(undefined, id, true).tiered.server.transport;
      if (isProcessKind(kind) || (own !== undefined && bringsProgram(own))) requireLoginForPrograms(services, request);
    }
    const row = await installs.templates.change(shapes.actorOf(services, request), id, {
      ...(own === undefined ? {} : { entry: own }),
      ...(fields === undefined ? {} : { fields }),
      revision: expectedOf(request),
    });
    return { id: row.id, slug: row.slug, revision: row.revision };
  },
});

export const removeTemplate = operation({
  route: "DELETE /api/templates/{template}",
  params,
  right: teamAdmin,
  id: "removeTemplate",
  tag,
  summary: "Remove a template that is not installed",
  responses: answers(doneShape, "It is gone.", [404, 409, 415]),
  async run(services, request) {
    const { installs } = requirePeople(services);
    await installs.templates.remove(shapes.actorOf(services, request), request.params.template);
    return done;
  },
});

/** What teams can install. Programs are for admins of the gateway, by whichever of these ways they come. */
export const templateOperations: readonly Operation[] = [
  listTemplates,
  showTemplate,
  addTemplate,
  changeTemplate,
  removeTemplate,
];
