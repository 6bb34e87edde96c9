import { lookAlikeForm, toSlug } from "../../words/slug.ts";
import type { SandboxMode } from "../../rows/sandbox-rows.ts";
import { fillEntry } from "../../entry/entry-variables.ts";
import { inputVariable, type Variables } from "../../file/substitution.ts";
import type { ImportedEntry } from "../connect/client-entry.ts";
import { isPreselected, marksOf, type CommandMark } from "./command-marks.ts";
import { createVariableNames } from "../../words/variable-names.ts";
import { findLiteralSecrets, schemeOf, withSecretVariables, type LiteralSecret } from "./literal-secrets.ts";
import type { FoundClient, FoundFile, FoundServer } from "./read-clients.ts";
import { serverIdentity } from "./shared-servers.ts";

/** What an import would do, before anything is done. */
export interface ImportPlan {
  readonly servers: readonly PlannedServer[];
  /** Entries that lead to a gateway instead of a server. They are never taken over. */
  readonly gateways: readonly PlannedGateway[];
  /** What could not be read or understood, each with its place. */
  readonly problems: readonly string[];
}

export interface PlannedGateway extends Sighting {
  readonly gateway: string;
  readonly isOurs: boolean;
}

/** A place that configures a server. */
export interface Sighting {
  /** The client's name for people. */
  readonly client: string;
  /** What it is called there. */
  readonly name: string;
  readonly place: string;
}

export interface PlannedServer {
  /** What it will be called in our configuration. */
  readonly key: string;
  /** The entry as it is in the client, with literal secrets. */
  readonly literal: ImportedEntry;
  /** The same with a variable in place of each secret. The same object where there is none. */
  readonly entry: ImportedEntry;
  /** All places that configure it. More than one: it is configured several times. */
  readonly seen: readonly Sighting[];
  /** What our configuration calls it already. Undefined for a new one. */
  readonly presentAs: string | undefined;
  readonly marks: readonly CommandMark[];
  /** Whether it is taken over unless a person says otherwise. */
  readonly isPreselected: boolean;
  readonly secrets: readonly PlannedSecret[];
  /** Variables that its entry refers to and the environment does not have. */
  readonly missing: readonly string[];
  readonly notes: readonly string[];
}

export interface PlannedSecret {
  readonly where: string;
  readonly variable: string;
  /** Whether the environment already has that variable with this value. */
  readonly isSet: boolean;
  /** What the variable's value begins with, such as `Bearer `. Absent where it is the secret alone. */
  readonly scheme?: string;
}

/** A server that our configuration has. */
export interface PresentServer {
  readonly key: string;
  /** Undefined for an entry that is wrong: its name is taken all the same. */
  readonly entry: ImportedEntry | undefined;
}

export interface PlanOptions {
  readonly present: readonly PresentServer[];
  readonly env: Variables;
  /** The folder of our configuration: where its processes run unless an entry says otherwise. */
  readonly directory: string;
  /** What our configuration says of servers that say nothing of a sandbox. */
  readonly sandboxMode: SandboxMode;
}

/**
 * Merges the servers of several clients, and compares them with the configured ones. The same server under two names is
 * one; two servers under one name get different ones. Pure.
 */
export function planImport(
  found: readonly FoundClient[],
  { present, env, directory, sandboxMode }: PlanOptions,
): ImportPlan {
  const all = found.flatMap(({ row, files }) =>
    files.flatMap((file) => file.servers.map((server): Candidate => ({ client: row, file, server }))),
  );
  const groups = groupSame(all.filter(({ server }) => server.gateway === undefined));
  const names = createNames(present.map(({ key }) => key));
  const variables = createPlannedSecrets(env);
  return {
    servers: [...groups.values()].map((group) => {
      const planned = toPlanned(group, { variables, directory, env, sandboxMode });
      const presentAs = findPresent(planned, present);
      const key = presentAs ?? names(planned.key, group[0]?.client.id ?? "other");
      return { ...planned, key, presentAs };
    }),
    gateways: all.flatMap(({ client, server }) =>
      server.gateway === undefined
        ? []
        : [{ ...toSighting({ client, server }), gateway: server.gateway.name, isOurs: server.gateway.isOurs }],
    ),
    problems: [...new Set(found.flatMap(({ files }) => files.flatMap(({ problems }) => problems)))],
  };
}

interface Candidate {
  readonly client: FoundClient["row"];
  readonly file: Pick<FoundFile, "path" | "realPath">;
  readonly server: FoundServer;
}

/** An entry that several clients read from one real file is one server, whatever folder each of them reads it for. */
function groupSame(candidates: readonly Candidate[]): ReadonlyMap<string, readonly Candidate[]> {
  const groups = new Map<string, Candidate[]>();
  const identities = new Map<string, string>();
  for (const candidate of candidates) {
    const { file, server } = candidate;
    const place = `${file.realPath}${server.place.slice(file.path.length)}\0${server.name}`;
    const identity = identities.get(place) ?? serverIdentity(server.entry);
    identities.set(place, identity);
    const group = groups.get(identity);
    if (group === undefined) groups.set(identity, [candidate]);
    else group.push(candidate);
  }
  return groups;
}

function toSighting({ client, server }: Pick<Candidate, "client" | "server">): Sighting {
  return { client: client.label, name: server.name, place: server.place };
}

interface PlanTools {
  readonly variables: (secret: LiteralSecret, serverName: string) => PlannedSecret;
  readonly directory: string;
  readonly env: Variables;
  readonly sandboxMode: SandboxMode;
}

function toPlanned(group: readonly Candidate[], tools: PlanTools): PlannedServer {
  const servers = group.map(({ server }) => server);
  const [first] = servers as [FoundServer];
  const literal = inFolder(merge(servers), servers, tools.directory);
  const found = findLiteralSecrets(literal, first.name);
  const secrets = found.map((secret) => tools.variables(secret, first.name));
  const home = tools.env["HOME"] || tools.env["USERPROFILE"] || undefined;
  const source = { home, directory: tools.directory, mode: tools.sandboxMode };
  const names = new Map(found.map((secret, at) => [secret, secrets[at]?.variable ?? secret.variable]));
  return {
    key: first.name,
    literal,
    entry: found.length === 0 ? literal : withSecretVariables(literal, names),
    seen: group.map(toSighting),
    presentAs: undefined,
    marks: marksOf(literal, source),
    isPreselected: literal.enabled !== false && isPreselected(literal, source),
    secrets,
    missing: missingIn(literal, tools.env),
    notes: [...new Set([...servers.flatMap(({ notes }) => notes), ...mergeNotes(servers), ...sandboxNotes(literal)])],
  };
}

/** What the gateway fills in without any variable. */
const predefined: Variables = Object.fromEntries(
  ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"].map((name) => [name, name]),
);

/** Variables that an entry refers to and that are not set, also in place of inputs. */
export function missingIn(entry: object, env: Variables): readonly string[] {
  const { missing } = fillEntry(entry, { variables: env, predefined });
  const names = missing.map(({ name }) => (name.startsWith("input:") ? inputVariable(name.slice(6)) : name));
  return [...new Set(names)];
}

/**
 * One entry for a server of several clients. It is on where any client has it on, because somebody uses it there; a
 * tool that is off in any client stays off.
 */
function merge(servers: readonly FoundServer[]): ImportedEntry {
  const [first] = servers as [FoundServer];
  const { enabled: _enabled, tools: _tools, sandbox: _sandbox, ...entry } = first.entry;
  const isOff = servers.every((server) => server.entry.enabled === false);
  const deny = [...new Set(servers.flatMap((server) => server.entry.tools?.deny ?? []))];
  const lists = servers.flatMap((server) =>
    server.entry.tools?.allow === undefined ? [] : [server.entry.tools.allow],
  );
  const allow = lists[0]?.filter((tool) => lists.every((list) => list.includes(tool)));
  const rules = { ...(allow === undefined ? {} : { allow }), ...(deny.length > 0 ? { deny } : {}) };
  // A sandbox of one client goes before none of another.
  const sandboxes = servers.map(({ entry: { sandbox } }) => sandbox);
  const sandbox = sandboxes.find((one) => one !== undefined && one !== false) ?? sandboxes[0];
  return {
    ...entry,
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(isOff ? { enabled: false as const } : {}),
    ...(Object.keys(rules).length > 0 ? { tools: rules } : {}),
  };
}

function mergeNotes(servers: readonly FoundServer[]): readonly string[] {
  const rules = new Set(servers.map(({ entry }) => JSON.stringify(entry.tools ?? {})));
  const sandboxes = new Set(servers.map(({ entry }) => JSON.stringify(entry.sandbox ?? null)));
  const states = new Set(servers.map(({ entry }) => entry.enabled !== false));
  return [
    ...(rules.size > 1 ? ["its clients offer different tools: a tool that is off in one of them stays off"] : []),
    ...(sandboxes.size > 1 ? ["its clients confine it differently: taken over as the first that confines it"] : []),
    ...(states.size > 1 ? ["switched off in one client and on in another: taken over as on"] : []),
  ];
}

function sandboxNotes({ sandbox }: ImportedEntry): readonly string[] {
  return sandbox === undefined ? [] : [`its sandbox: ${JSON.stringify(sandbox)}`];
}

/** A project's server runs in its project, unless it is used elsewhere, too, or our file is there. */
function inFolder(entry: ImportedEntry, servers: readonly FoundServer[], directory: string): ImportedEntry {
  const [project, ...others] = [...new Set(servers.map((server) => server.project))];
  const isElsewhere = project !== undefined && others.length === 0 && project !== directory;
  return isElsewhere && entry.command !== undefined && entry.cwd === undefined ? { ...entry, cwd: project } : entry;
}

function findPresent(planned: PlannedServer, present: readonly PresentServer[]): string | undefined {
  const forms = [serverIdentity(planned.literal), serverIdentity(planned.entry)];
  return present.find(({ entry }) => entry !== undefined && forms.includes(serverIdentity(entry)))?.key;
}

/** Names that are still free: `github`, then `github-cursor`, then `github-cursor-2`. */
function createNames(taken: readonly string[]): (name: string, clientId: string) => string {
  const used = new Set(taken.flatMap(toForms));
  return (name, clientId) => {
    for (let count = 0; ; count += 1) {
      const suffix = count === 0 ? "" : count === 1 ? `-${clientId}` : `-${clientId}-${count}`;
      const free = `${name}${suffix}`;
      if (toForms(free).some((form) => used.has(form))) continue;
      for (const form of toForms(free)) used.add(form);
      return free;
    }
  };
}

/** Names that a person could mistake for each other, or that give the same slug, share a form. */
function toForms(name: string): readonly string[] {
  return [lookAlikeForm(name), toSlug(name).toLowerCase()];
}

function createPlannedSecrets(env: Variables): PlanTools["variables"] {
  const nameOf = createVariableNames(env);
  return ({ where, value, variable }, serverName) => {
    const name = nameOf(variable, value, serverName);
    const scheme = schemeOf(value);
    return { where, variable: name, isSet: env[name] === value, ...(scheme === "" ? {} : { scheme }) };
  };
}
