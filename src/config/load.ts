import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import { type Config, type ConfigIdentity, type ServerConfig, deepFreeze } from "./config.ts";
import { loosenedSandbox } from "./entry/sandbox-entry.ts";
import type { HomeDirectories } from "./file/directories.ts";
import { parseDocument, parsingDocument, type Document } from "./file/document.ts";
import { readEnvFiles, type EnvFiles } from "./entry/env-file.ts";
import { findFile, follow, readConfigFile } from "./file/file.ts";
import { hashFound, UntrustedConfig, type FoundConfig } from "./found-config.ts";
import { readGiven, type ConfigFlags } from "./given.ts";
import { allSteps, slices } from "../kernel/runtime/slices.ts";
import { noteReads, type Variables } from "./file/substitution.ts";
import { buildPeople } from "./people/people.ts";
import { predefinedNames } from "./entry/predefined.ts";
import { createProblems, InvalidConfig } from "./file/problems.ts";
import { buildingServers } from "./entry/servers.ts";
import {
  buildSettings,
  isShared,
  readSettings,
  serverDefaults,
  rulesWithoutApprover,
  unknownProfileServers,
} from "./settings/settings.ts";
import { findServers, unknownTopFields } from "./file/source.ts";

export interface LoadOptions {
  /** `--config`; otherwise TOOLYARD_CONFIG, otherwise the first usual file that exists. Relative to `cwd`. */
  readonly file?: string | undefined;
  /** The file that was found before, to read it again: the search could find another one by now. */
  readonly again?: string | undefined;
  /**
   * Asked about a file of the working directory that was not named, before anything of it is used. Rejects with
   * UntrustedConfig for one that must not be used, as happens without this function.
   */
  readonly admit?: ((found: FoundConfig) => Promise<void>) | undefined;
  readonly cwd: string;
  readonly env: Variables;
  readonly flags: ConfigFlags;
  readonly homeDirectories: HomeDirectories;
  /** Number of cores, for the default of `parallelStarts`. Default: those of this machine. */
  readonly cores?: number;
}

/**
 * The configuration from file, environment and flags, frozen throughout. A flag takes precedence over its variable, a
 * variable over the file, and the file over the default. Without a file there are no servers. Throws GatewayError
 * CONFIG_UNTRUSTED for a found file that the user did not allow, and CONFIG_INVALID with every problem; those in the
 * file begin with `file:line:column`. No message contains a value.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const asked = options.file ?? (options.env["TOOLYARD_CONFIG"] || undefined);
  const isNamed = asked !== undefined;
  const file = (isNamed ? undefined : options.again) ?? (await findFile(asked, options.cwd, options.homeDirectories));
  if (file === undefined) return buildConfig(undefined, options);
  const { text, realFile, realDirectory } = await readConfigFile(file);
  const source = await readSource({ file, text, place: { realFile, directory: realDirectory } }, options);
  const config = await assemble(source, options);
  if (isNamed || dirname(file) === join(options.homeDirectories.config)) return config;
  const found = toFound(source, { text, config, env: options.env });
  if (options.admit === undefined) throw new UntrustedConfig(found);
  await options.admit(found);
  return config;
}

/** A configuration file's text, which need not be what the file contains now. */
export interface ConfigText {
  /** An absolute path. Relative paths in the text start at its folder. */
  readonly file: string;
  readonly text: string;
  /** The file and its folder with symbolic links followed. Default: as `file` says. */
  readonly place?: Omit<ConfigIdentity, "variables">;
}

/** The same for a text that is not in the file, or not yet: tells an editor of the file what it would mean. */
export async function loadConfigText(source: ConfigText, options: Omit<LoadOptions, "file">): Promise<Config> {
  return await assemble(await readSource(source, options), options);
}

/** What a user would allow with this text, which may be one that cannot be used. Throws for one that is no JSON. */
export async function describeFound(
  { file, text }: Omit<ConfigText, "place">,
  options: Omit<LoadOptions, "file">,
): Promise<FoundConfig> {
  const place = { realFile: await follow(file), directory: await follow(dirname(file)) };
  const source = await readSource({ file, text: text.trim() === "" ? "{}" : text, place }, options);
  const config = createProblems().attempt(() => allSteps(assembling(source, options)));
  return toFound(source, { text, config, env: options.env });
}

function toFound(
  { envFiles, document, place }: ReadSource,
  { text, config, env }: { readonly text: string; readonly config: Config | undefined; readonly env: Variables },
): FoundConfig {
  const { realFile = document.fileName, directory = dirname(document.fileName) } = place;
  return {
    file: document.fileName,
    place: join(directory, basename(document.fileName)),
    text,
    hash: hashFound({ realFile, directory, text, envFiles }),
    envFiles: [...envFiles.keys()],
    variables: Object.keys(config?.identity?.variables ?? {}),
    loosened: new Map(config?.servers.flatMap((server) => looseningOf(server, config, env))),
  };
}

function looseningOf(server: ServerConfig, { settings }: Config, env: Variables) {
  const marks = loosenedSandbox(server, { home: env["HOME"], mode: settings.sandbox.mode });
  return marks.length === 0 ? [] : [[server.key, marks] as const];
}

async function readSource({ file, text, place }: ConfigText, options: Omit<LoadOptions, "file">): Promise<ReadSource> {
  const document = await slices.run(parsingDocument(text, file));
  const directory = dirname(file);
  const { names: predefined } = predefinedNames(document, directory, options.env);
  const envFiles = await readEnvFiles({ document, directory, variables: options.env, predefined });
  return { document, file, directory, envFiles, place: place ?? { realFile: file, directory } };
}

/**
 * The same for a configuration given as an object of the same form instead of a file. Its relative paths start at
 * `cwd`.
 */
export async function loadConfigObject(config: object, options: Omit<LoadOptions, "file">): Promise<Config> {
  const document = parseDocument(JSON.stringify(config, undefined, 2), "(configuration)");
  const { names: predefined } = predefinedNames(document, options.cwd, options.env);
  const envFiles = await readEnvFiles({ document, directory: options.cwd, variables: options.env, predefined });
  const place = { realFile: undefined, directory: undefined };
  const source = { document, file: undefined, directory: options.cwd, envFiles, place };
  return await assemble(source, options);
}

/**
 * The same for a text that was already read. `file` is an absolute path; relative paths start at its folder. Pure:
 * reads no `envFile`.
 */
export function buildConfig(
  source: { readonly file: string; readonly text: string } | undefined,
  options: Omit<LoadOptions, "file">,
): Config {
  const document = parseDocument(source?.text ?? "{}", source?.file ?? "(no file)");
  const directory = source ? dirname(source.file) : options.cwd;
  const place = { realFile: source?.file, directory: source && directory };
  return allSteps(assembling({ document, file: source?.file, directory, envFiles: new Map(), place }, options));
}

interface ReadSource {
  readonly document: Document;
  readonly file: string | undefined;
  readonly directory: string;
  readonly envFiles: EnvFiles;
  /** File and directory with symbolic links followed. */
  readonly place: Omit<ConfigIdentity, "variables">;
}

async function assemble(source: ReadSource, options: Omit<LoadOptions, "file">): Promise<Config> {
  return await slices.run(assembling(source, options));
}

/** In steps, between which requests get a turn: a file may have thousands of servers. */
function* assembling(source: ReadSource, options: Omit<LoadOptions, "file">): Generator<undefined, Config> {
  const { document, directory } = source;
  const { env, cwd, flags, homeDirectories, cores = availableParallelism() } = options;
  const given = readGiven(flags, env);
  // Notes the variables that the file refers to: they decide which servers there are, and so belong to the identity of
  // the configuration. Variables that stand for flags are not noted, because they may differ from client to client.
  const { variables, read: variablesRead } = noteReads(env);
  const { read, built, passwords, facts, inherited } = yield* readDocument(source, { variables, programs: env, cores });
  const { servers } = built;
  const problems = createProblems();
  yield;
  const people = problems.attempt(() => buildPeople(read, document, servers));
  yield;
  const settings = problems.attempt(() =>
    buildSettings({ read, document, given, servers, cwd, directory, defaultDataDir: homeDirectories.data, facts }),
  );
  if (people === undefined || settings === undefined) throw new InvalidConfig([...problems.all, ...built.problems]);
  return deepFreeze({
    file: source.file,
    servers,
    settings,
    people: people.people,
    warnings: toldWarnings(
      [
        ...[...unknownTopFields(document), ...built.warnings, ...built.notes, ...read.warnings, ...people.warnings],
        ...unknownProfileServers(settings, document, servers),
        ...rulesWithoutApprover(settings, document, people.people.principals.size),
      ],
      document.fileName,
    ),
    secrets: new Set([...built.secrets, ...read.secrets, ...passwords]),
    ...(built.envFiles.length > 0 ? { watched: built.envFiles } : {}),
    inherited: { defaults: inherited, facts },
    identity: { ...source.place, variables: variablesRead() },
  });
}

/** Each is a line of the log, and more would go unread. */
const mostWarnings = 200;

function toldWarnings(warnings: readonly string[], fileName: string): readonly string[] {
  const more = warnings.length - mostWarnings;
  return more > 0 ? [...warnings.slice(0, mostWarnings), `${fileName}: and ${more} more warnings`] : warnings;
}

/**
 * Throws when the file as a whole cannot be used. Problems in single servers are then reported along with the reason.
 */
function* readDocument(
  { document, directory, envFiles }: ReadSource,
  {
    variables,
    programs,
    cores,
  }: { readonly variables: Variables; readonly programs: Variables; readonly cores: number },
) {
  const problems = createProblems();
  const places = problems.attempt(() => findServers(document)) ?? [];
  const inEntries = new Set(places.flatMap(({ path }) => document.wrongKeysIn(path)));
  problems.add(...document.wrongKeys.flatMap((wrong) => (inEntries.has(wrong) ? [] : [wrong.problem])));
  const { names: predefined, secrets: passwords } = predefinedNames(document, directory, variables);
  yield;
  const read = problems.attempt(() => readSettings(document, variables, predefined));
  yield;
  const facts = { cores, isShared: isShared(read?.written ?? {}) };
  const inherited = serverDefaults(read?.written ?? {}, facts);
  const found = { document, directory, variables, programs, predefined, envFiles };
  const built = yield* buildingServers(places, { ...found, inherited, facts });
  if (read === undefined || problems.all.length > 0) throw new InvalidConfig([...problems.all, ...built.problems]);
  return { read, built, passwords, facts, inherited };
}
