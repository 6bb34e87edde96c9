import { dirname } from "node:path";
import type { Config } from "../../../config/config.ts";
import { loosenedSandbox, toSandboxRules, type SandboxMark } from "../../../config/entry/sandbox-entry.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";
import { sandboxModeIn } from "../../../config/rows/sandbox-rows.ts";
import { explainSandbox } from "../../../servers/sandbox/explain-sandbox.ts";
import { dataDirectoryOf, keepValues, readKeptValues, type Surroundings } from "../surroundings/surroundings.ts";
import { missingIn } from "../../../config/clients/import/import-plan.ts";
import type { WantedServer } from "./await-config.ts";
import { openEditedConfig, pathForNew, type EditedConfig } from "./edited-config.ts";
import { exampleServers } from "./example-servers.ts";
import { createEntry, type EntryDeps, type NewEntry, type NewServer } from "./new-entry.ts";
import type { ServerTrial } from "./trial-result.ts";

/** A server that is not in the file: its entry, and what the file would mean with it. */
export interface NewInFile {
  readonly made: NewEntry;
  readonly edited: EditedConfig;
  readonly text: string;
  readonly config: Config;
  /** What its author should know: notes, what will be started or asked in full, and warnings of the configuration. */
  readonly said: readonly string[];
  /** How the entry loosens its sandbox: a person says yes to that first. */
  readonly loosened: readonly SandboxMark[];
}

/** Makes an entry. Nothing is started or written yet. Rejects with CONFIG_INVALID, and with REGISTRY_FAILED. */
export async function makeNew(
  place: Surroundings,
  wanted: NewServer,
  { ask, signal }: Pick<EntryDeps, "ask" | "signal">,
): Promise<NewInFile> {
  const edited = await openEditedConfig(place);
  const before = await edited.check(edited.opened.text.trim() === "" ? "{}" : edited.opened.text);
  const { registryUrl } = before.settings;
  const folder = dirname(edited.opened.file);
  const known = async () => ({ ...(await readKeptValues(place)), ...place.env });
  const here = { registryUrl, cwd: place.cwd, folder, environment: place.env };
  const made = await withAsked(await createEntry(wanted, { ...here, signal, ask, known }), { known, ask });
  refuseTaken(edited, made.name);
  const text = edited.edit([{ path: pathForNew(edited, made.name), value: made.entry }]);
  const config = await edited.check(text, givenTo(made));
  // Such as a mistyped field, which may be why the server cannot be used.
  const warnings = config.warnings.filter((one) => !before.warnings.includes(one));
  const { mode } = config.settings.sandbox;
  const server = config.servers.find(({ key }) => key === made.name);
  const loosened = server === undefined ? [] : loosenedSandbox(server, { home: place.env["HOME"], mode });
  const said = [
    ...made.notes,
    `${made.name}: ${describeEntry(made.entry)}`,
    ...loosened.map((mark) => `${made.name}: ${mark}`),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return { made, edited, text, config, said: said.map(plainText), loosened };
}

/** The same server with an entry that confines it. One that is reached over the network stays as it is. */
export async function inSandbox(fresh: NewInFile): Promise<NewInFile> {
  const { made, edited } = fresh;
  if (typeof made.entry["command"] !== "string") return fresh;
  const entry = { ...made.entry, sandbox: true };
  const text = edited.edit([{ path: pathForNew(edited, made.name), value: entry }]);
  return { ...fresh, made: { ...made, entry }, text, config: await edited.check(text, givenTo(made)) };
}

/** Whether this machine can confine servers, and what such a server gets, for people. Starts no server. */
export async function sandboxHere(place: Surroundings) {
  const { env: environment, cwd } = place;
  const own = { dataDir: cwd, configFile: undefined, home: environment["HOME"] };
  const source = { directory: cwd, home: () => own.home, mode: "off", engine: "auto", roots: [] } as const;
  const sandbox = toSandboxRules(true, source);
  const transport = { command: process.execPath, args: [], env: {}, cwd, sandbox };
  const { lacks, reaches } = await explainSandbox(transport, { environment, own });
  const { document } = await openEditedConfig(place);
  return { works: lacks === null, lacks, gets: [...reaches], mode: sandboxModeIn(document) };
}

/** Asks for variables that the entry refers to and that have no value. */
async function withAsked(made: NewEntry, { known, ask }: Pick<EntryDeps, "known" | "ask">): Promise<NewEntry> {
  const referred = new Set([...made.variables.keys(), ...missingIn(made.entry, {})]);
  if (ask === undefined || referred.size === 0) return made;
  const variables = new Map(made.variables);
  const values = { ...(await known()), ...givenTo(made) };
  for (const name of referred) {
    if ((values[name] ?? "") !== "") continue;
    const about = { description: `of ${made.name}, which is not set`, isSecret: true, isRequired: false };
    const nothing = { isFile: false, choices: undefined, placeholder: undefined, preset: undefined };
    variables.set(name, await ask({ name, ...about, ...nothing }));
  }
  return { ...made, variables };
}

/** The values that were given for variables. */
export function givenTo({ variables }: Pick<NewEntry, "variables">): Readonly<Record<string, string>> {
  return Object.fromEntries([...variables].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Whether a server that was tried is written. Somebody can only log in at a server that is in the file. */
export function isWorthAdding(trial: ServerTrial | undefined): boolean {
  return trial === undefined || trial.isUsable || trial.status === "requires_reauth";
}

/** A server that was written. */
export interface AddedServer {
  /** `added github to /home/me/toolyard.json`. */
  readonly what: string;
  readonly server: WantedServer;
  /** For programs. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** What was kept, and what has to be set before it can be used. */
  readonly said: readonly string[];
}

/** Keeps the secrets of a new server, and writes it into the file. */
export async function writeNew(
  place: Surroundings,
  { made, edited, text, config }: NewInFile,
  trial: ServerTrial | undefined,
): Promise<AddedServer> {
  const { name, entry } = made;
  const { file } = edited.opened;
  const given = Object.entries(givenTo(made)).filter(([variable, value]) => place.env[variable] !== value);
  if (given.length > 0) await keepValues(place, Object.fromEntries(given));
  const backup = await edited.save(text);
  const slug = config.servers.find(({ key }) => key === name)?.slug ?? name;
  return {
    what: `added ${name} to ${file}`,
    server: { key: name, slug, isToRun: true },
    facts: { name, file, backup: backup ?? null, entry, trial: trial ?? null },
    said: [...keptText(given.map(([variable]) => variable)), ...unsetText(config, made)],
  };
}

/** Writes three servers to try the gateway with, without those that are there already. */
export async function writeExamples(place: Surroundings): Promise<AddedExamples> {
  const edited = await openEditedConfig(place);
  const { file, text } = edited.opened;
  const before = await edited.check(text.trim() === "" ? "{}" : text);
  const known = new Set(edited.servers.map(({ key }) => key));
  const fresh = exampleServers(dataDirectoryOf(before, place)).filter(([name]) => !known.has(name));
  const names = fresh.map(([name]) => name);
  const last = names.at(-1);
  if (last === undefined)
    return {
      what: `${file} has servers of these names already`,
      last: undefined,
      facts: { names, file, backup: null },
    };
  const next = edited.edit(fresh.map(([name, entry]) => ({ path: pathForNew(edited, name), value: entry })));
  await edited.check(next);
  const backup = await edited.save(next);
  const server = { key: last, slug: last, isToRun: true };
  return { what: `added ${names.join(", ")} to ${file}`, last: server, facts: { names, file, backup: backup ?? null } };
}

/** Example servers that were written. */
export interface AddedExamples extends Pick<AddedServer, "what" | "facts"> {
  /** Undefined where all of them were there already. */
  readonly last: WantedServer | undefined;
}

function refuseTaken({ servers, document }: EditedConfig, name: string): void {
  const place = servers.find(({ key }) => key === name);
  if (place === undefined) return;
  throw new GatewayError(
    "CONFIG_INVALID",
    `${document.place(place.path)}: there is a server ${JSON.stringify(name)} already`,
    {
      hint: `Choose another name, or take that one out first with \`toolyard servers remove ${name}\`.`,
    },
  );
}

/** What will be started or asked, in full. */
export function describeEntry({ command, args, url }: NewEntry["entry"]): string {
  if (typeof command !== "string") return typeof url === "string" ? url : "neither a command nor an address";
  const words = [command, ...(Array.isArray(args) ? args : [])].map((word: unknown) => quote(String(word)));
  return words.join(" ");
}

function quote(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function keptText(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const are = names.length === 1 ? "is" : "are";
  return [
    `${names.join(" and ")} ${are} kept encrypted, and the file refers to ${names.length === 1 ? "it" : "them"}.`,
  ];
}

/** The configuration was made with the values that were given, and with those that are kept. */
function unsetText({ identity }: Config, { variables, entry }: NewEntry): readonly string[] {
  const referred = new Set([...variables.keys(), ...missingIn(entry, {})]);
  const unset = [...referred].filter((name) => (identity?.variables[name] ?? "") === "");
  if (unset.length === 0) return [];
  const names = unset.join(" and ");
  const them = unset.length === 1 ? "it" : "them";
  return [
    `The file refers to ${names}: keep ${them} with \`toolyard config keep ${unset[0] ?? ""}\`, or set ${them} where the gateway is started.`,
  ];
}
