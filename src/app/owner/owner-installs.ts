import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Actor } from "../../people/installations/install-rights.ts";
import type { InstallationPatch, WrittenValues } from "../../people/installations/install-changes.ts";
import {
  viewInstallation,
  viewOwnValues,
  viewTeamValues,
  type InstallationView,
  type ValuesView,
} from "../../people/installations/install-view.ts";
import type { SecretLine } from "../../people/installations/secret-changes.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import type { TeamPeople } from "../people/team-people.ts";

/** What a command about servers of teams is answered with. */
export interface InstallsAnswer {
  readonly installations?: readonly (InstallationView & { readonly team: string })[];
  readonly values?: ValuesView;
  readonly secrets?: readonly SecretLine[];
  readonly templates?: readonly TemplateLine[];
  /** The id of the template that was added. */
  readonly template?: string;
  /** Of a rotation. */
  readonly rotated?: { readonly teams: number; readonly secrets: number };
}

interface TemplateLine {
  readonly id: string;
  readonly slug: string;
  readonly source: string;
  /** The slug of the team whose own it is; null for one of all teams. */
  readonly team: string | null;
}

/** The members of the request `installs`. A missing one is undefined. */
export interface InstallsRequest {
  readonly task: string;
  readonly team?: string | undefined;
  /** An installation, a template, or a secret. */
  readonly name?: string | undefined;
  /** Whose own values. */
  readonly user?: string | undefined;
  readonly slug?: string | undefined;
  readonly text?: string | undefined;
  readonly scope?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly values?: WrittenValues | undefined;
  readonly locks?: readonly string[] | undefined;
  readonly isDeep?: boolean | undefined;
  readonly entry?: object | undefined;
  readonly fields?: unknown;
}

const owner: Actor = { id: "owner", via: "owner", isAdmin: true, membership: undefined };

type Task = (people: TeamPeople, request: InstallsRequest) => Promise<InstallsAnswer>;

const tasks: Readonly<Record<string, Task>> = {
  "template.list": async ({ installs, directory }, { team }) => {
    const named = team === undefined ? undefined : teamOf(directory, team);
    const slugOfOwner = (id: string): string | null =>
      named !== undefined && installs.book.templates.get(id)?.teamId === named.id ? named.slug : null;
    const listed = installs.templates.list(named?.id);
    return { templates: listed.map(({ id, slug, source }) => ({ id, slug, source, team: slugOfOwner(id) })) };
  },
  "template.add": async ({ installs, directory }, { name, team, entry, fields }) => {
    const teamId = team === undefined ? null : teamOf(directory, team).id;
    const given = { slug: need(name), teamId, source: "own" as const, entry: entry ?? {}, fields: fields ?? [] };
    return { template: (await installs.templates.add(owner, given)).id };
  },
  "template.change": async (people, { name, team, entry, fields }) => {
    await people.installs.templates.change(owner, ownTemplate(people, { name, team }), {
      ...(entry === undefined ? {} : { entry }),
      ...(fields === undefined ? {} : { fields }),
    });
    return {};
  },
  "template.remove": async (people, { name, team }) =>
    done(await people.installs.templates.remove(owner, ownTemplate(people, { name, team }))),
  install: async ({ installs, directory }, { team, name, slug, text, scope, values, locks }) => {
    const { id, slug: teamSlug } = teamOf(directory, team);
    const given = { template: need(name), slug, name: text, scope, values, locks };
    const row = await installs.changes.install(owner, id, given);
    return { installations: [{ ...viewInstallation(installs, row, owner), team: teamSlug }] };
  },
  uninstall: async ({ installs, directory }, { team, name }) =>
    done(await installs.changes.uninstall(owner, teamOf(directory, team).id, need(name))),
  change: async ({ installs, directory }, { team, name, text, scope, enabled, locks }) => {
    const patch: InstallationPatch = { name: text, scope, enabled, locks };
    await installs.changes.change(owner, teamOf(directory, team).id, need(name), patch);
    return {};
  },
  list: async ({ installs, directory }, { team }) => {
    const teams = team === undefined ? [...directory.book.teams.values()] : [teamOf(directory, team)];
    return {
      installations: teams.flatMap(({ id, slug }) =>
        installs.book.ofTeam(id).map((row) => ({ ...viewInstallation(installs, row, owner), team: slug })),
      ),
    };
  },
  "config.get": async ({ installs, directory }, { team, name, user }) => {
    const { id: teamId } = teamOf(directory, team);
    if (user === undefined)
      return { values: viewTeamValues(installs, installs.changes.find(teamId, need(name)), owner) };
    const { id, tiered } = installs.changes.forMember(teamId, need(name));
    const given = { installationId: id, membershipId: memberOf(directory, team, user).id, teamId };
    return { values: viewOwnValues(installs, tiered, given) };
  },
  "config.set": async ({ installs, directory }, { team, name, user, values = {} }) => {
    if (user === undefined)
      return done(await installs.changes.setTeamValues(owner, teamOf(directory, team).id, need(name), { values }));
    const membership = memberOf(directory, team, user);
    return done(await installs.changes.setOwnValues({ ...owner, membership }, need(name), { values }));
  },
  "secret.list": async ({ installs, directory }, { team }) => ({
    secrets: installs.secrets.list(owner, teamOf(directory, team).id),
  }),
  "secret.set": async ({ installs, directory }, { team, name, text }) =>
    done(await installs.secrets.set(owner, teamOf(directory, team).id, { name: need(name), text: text ?? "" })),
  "secret.remove": async ({ installs, directory }, { team, name }) =>
    done(await installs.secrets.remove(owner, teamOf(directory, team).id, need(name))),
  "key.rotate": async ({ installs }, { isDeep = false }) => ({ rotated: await installs.secrets.rotate(owner, isDeep) }),
};

/** Carries out what the owner asks about servers of teams. Rejects with CONFIG_INVALID where there are no teams. */
export async function askInstalls({ team }: Pick<GatewayParts, "team">, request: JsonObject): Promise<InstallsAnswer> {
  const people = team?.people();
  if (people === undefined)
    throw new GatewayError("CONFIG_INVALID", "this gateway has no teams of its own: it was started without --team", {
      hint: "Start it with `toolyard serve --team`.",
    });
  const given = request as unknown as InstallsRequest;
  const task = Object.hasOwn(tasks, given.task) ? tasks[given.task] : undefined;
  if (task === undefined)
    throw new GatewayError("REQUEST_INVALID", "there is no such thing to do with servers of teams");
  return await task(people, given);
}

/** The id of a template of the team that is named, or of all teams where none is: one is never meant by the other. */
function ownTemplate({ installs, directory }: TeamPeople, { name, team }: Pick<InstallsRequest, "name" | "team">) {
  const teamId = team === undefined ? undefined : teamOf(directory, team).id;
  const { id } = installs.templates.find(teamId, need(name));
  if (teamId !== undefined && installs.book.templates.get(id)?.teamId === null)
    throw new GatewayError("TEMPLATE_UNKNOWN", "the team has no template of its own with this name");
  return id;
}

function done(_nothing: void): InstallsAnswer {
  return {};
}

function need(text: string | undefined): string {
  if (typeof text === "string" && text !== "") return text;
  throw new GatewayError("REQUEST_INVALID", "a name is missing");
}

function teamOf({ book }: TeamPeople["directory"], slug: string | undefined) {
  const only = book.teams.size === 1 ? [...book.teams.values()][0] : undefined;
  const team = slug === undefined ? only : book.teamOf(slug);
  if (team !== undefined) return team;
  throw new GatewayError(
    "PERSON_UNKNOWN",
    slug === undefined ? "there are several teams, or none" : `there is no team ${JSON.stringify(slug.slice(0, 100))}`,
    { hint: "Say which one with --team; `toolyard team list` lists them." },
  );
}

function memberOf(directory: TeamPeople["directory"], team: string | undefined, name: string) {
  const { id: teamId, slug } = teamOf(directory, team);
  const user = directory.book.userNamed(name);
  const member = user && directory.book.membersOf(user.id).find((one) => one.team.id === teamId);
  if (member !== undefined) return { id: member.row.id, teamId, role: member.row.role };
  throw new GatewayError("PERSON_UNKNOWN", `${JSON.stringify(name.slice(0, 100))} is not in ${slug}`);
}
