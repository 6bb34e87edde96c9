import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Config } from "../../../config/config.ts";
import type { EditableConfig } from "../../../config/edit/config-edit.ts";
import type { KeptCredential } from "../../../servers/logins/credential.ts";
import type { HomeDirectories } from "../../../config/file/directories.ts";
import { follow, findFile } from "../../../config/file/file.ts";
import { textOption, type GivenFlags } from "../../../config/given.ts";
import { keySourceOf, type KeyAnswer, type KeySource } from "../../../config/key-source.ts";
import { describeFound, loadConfig, loadConfigText, type ConfigText } from "../../../config/load.ts";
import { openDirectory } from "../../../store/files/data-directory.ts";
import { openStore } from "../../../store/files/file-store.ts";
import { isVariableOfServers } from "../../../config/words/variable-names.ts";
import { createTrustedConfigs, type TrustedConfigs } from "../../../store/files/trusted-configs.ts";
import type { SecretStore, Store } from "../../../store/store.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { problemsOf } from "../../../config/file/problems.ts";

/** What the key was needed for. Plain data, which threads and processes of ours are sent as well. */
export interface Unlocked extends KeyAnswer {
  /** Kept values, of the revision of their file. */
  values?: { readonly revision: string; readonly byName: KeptByName } | undefined;
}

type KeptByName = Readonly<Record<string, string>>;

/** Where a command or a gateway was started, and with what: this decides which files and which data it means. */
export interface Surroundings {
  /** Those of a gateway name its configuration file and its data directory. */
  readonly flags: GivenFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home directory, in which other programs keep their files. */
  readonly home: string;
  readonly homeDirectories: HomeDirectories;
  readonly version: string;
  /** Where values for variables are kept, if not in the data directory that a flag or variable names. */
  readonly keptIn?: string | undefined;
  /** Shared by copies of this, so that the command that prints the key runs once, and kept values are read once. */
  readonly unlocked: Unlocked;
  /** The file of our program that runs. */
  readonly mainFile: string;
}

/**
 * Reads the configuration. `again` is for callers that have already found a file: looking again could find another one
 * by now. Rejects with UntrustedConfig for a found file that the user did not allow; see `trust-command.ts`.
 */
export async function readConfig(place: Surroundings, again?: string): Promise<Config> {
  return await withKeptValues(place, async ({ cwd, env, flags, homeDirectories }) => {
    const [file, { admit }] = [textOption(place, "config"), trustedIn(place)];
    return await loadConfig({ file, again, admit, cwd, env, flags, homeDirectories });
  });
}

/**
 * Reads it again where it refers to variables that are not set, and of which there are kept values. A change of those
 * changes the configuration.
 */
export async function withKeptValues(
  place: Surroundings,
  load: (place: Surroundings) => Promise<Config>,
): Promise<Config> {
  const config = await load(place);
  const unset = Object.entries(config.identity?.variables ?? {}).filter(([, value]) => value === null);
  if (unset.length === 0) return config;
  const kept = await readKeptValues(place);
  const found = unset.filter(([name]) => Object.hasOwn(kept, name)).map(([name]) => [name, kept[name]] as const);
  const env = { ...place.env, ...Object.fromEntries(found) };
  const whole = found.length === 0 ? config : await load({ ...place, env });
  const { fileOf } = await vaultIn(keptDirectory(place), place);
  return Object.freeze({ ...whole, watched: [...(whole.watched ?? []), thereOf(fileOf(keptName))] });
}

/** The file, or the first folder on the way to it that is not there yet: what can be watched. */
function thereOf(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? path : thereOf(folder);
}

/** The name under which they are kept, where the logins of servers are. */
const keptName = "values of variables";
const lockMs = 10_000;

/**
 * Values that were typed for variables of configurations, by name. Empty where they cannot be decrypted, and where
 * their key cannot be had: a configuration that needs none of them stays readable.
 */
export async function readKeptValues(place: Surroundings): Promise<KeptByName> {
  const { unlocked } = place;
  try {
    const vault = await vaultIn(keptDirectory(place), place);
    const revision = await vault.revision(keptName);
    if (revision === undefined) return {};
    if (unlocked.values?.revision !== revision)
      unlocked.values = { revision, byName: requireKept(await vault.read(keptName)) };
    return unlocked.values.byName;
  } catch {
    // The key may be another one by now.
    unlocked.key = undefined;
    return {};
  }
}

/** Throws CONFIG_INVALID where there are some that cannot be decrypted. */
function requireKept(kept: KeptCredential): KeptByName {
  if (kept.kind === "none") return {};
  if (kept.kind === "text") return JSON.parse(kept.text) as KeptByName;
  throw new GatewayError("CONFIG_INVALID", "the values that are kept were encrypted with another key", {
    hint: "Set TOOLYARD_KEY as it was, or remove the file `tokens/values_of_variables-*.vault` in the data directory.",
  });
}

/**
 * Keeps values, encrypted as logins are; undefined removes one. Resolves to those that there were before. Rejects with
 * CONFIG_INVALID where those that are kept cannot be decrypted.
 */
export async function keepValues(
  place: Surroundings,
  given: Readonly<Record<string, string | undefined>>,
): Promise<KeptByName> {
  for (const name of Object.keys(given)) requireVariableName(name);
  const vault = await vaultIn(openDirectory(keptDirectory(place)), place);
  return await vault.exclusively(keptName, AbortSignal.timeout(lockMs), async () => {
    const before = requireKept(await vault.read(keptName));
    const next = Object.entries({ ...before, ...given }).filter(([, value]) => value !== undefined);
    if (next.length === 0) await vault.remove(keptName);
    else await vault.write(keptName, JSON.stringify(Object.fromEntries(next)));
    return before;
  });
}

/** Throws CONFIG_INVALID for a name that no value can be kept for. */
export function requireVariableName(name: string): void {
  if (isVariableOfServers(name)) return;
  throw new GatewayError("CONFIG_INVALID", `${JSON.stringify(name)} is no name of a variable of a server`, {
    hint: "Give the name that the configuration refers to, such as GITHUB_TOKEN for ${GITHUB_TOKEN}.",
  });
}

function keptDirectory(place: Surroundings): string {
  return place.keptIn ?? ownDataDirectory(place);
}

async function vaultIn(dataDir: string, place: Surroundings): Promise<SecretStore> {
  return await storeIn(dataDir, place).secrets();
}

/** The found configurations that this user allowed: one list for all data directories, as each names its own. */
export function trustedIn({ homeDirectories }: Pick<Surroundings, "homeDirectories">): TrustedConfigs {
  return createTrustedConfigs(homeDirectories.data);
}

/**
 * Called before a file is written by a command of ours: a file that was allowed stays allowed with the new text, and so
 * does one that is new.
 */
export async function carryTrust(place: Surroundings, opened: EditableConfig, text: string): Promise<void> {
  const trusted = trustedIn(place);
  const after = await describeFound({ file: opened.file, text }, place);
  if (opened.mode !== undefined) {
    const before = await describeFound(opened, place);
    if ((await trusted.find(before.place))?.hash !== before.hash) return;
  }
  await trusted.allow(after);
}

/** What a text would mean in place of a file. Rejects with CONFIG_INVALID. */
export async function readConfigText(
  surroundings: Surroundings,
  { file, text }: Pick<ConfigText, "file" | "text">,
): Promise<Config> {
  const realFile = await follow(file);
  const place = { realFile, directory: dirname(realFile) };
  return await withKeptValues(surroundings, async ({ cwd, env, flags, homeDirectories }) => {
    return await loadConfigText({ file, text, place }, { cwd, env, flags, homeDirectories });
  });
}

/** The key that encrypts logins, when the user does not want a key file. */
export function vaultKeyOf({ env, unlocked }: Pick<Surroundings, "env" | "unlocked">): KeySource {
  return { ...keySourceOf(env), answer: unlocked };
}

/** The configured data directory, or the platform's usual place. Does not create it. */
export function dataDirectoryOf(config: Config, { homeDirectories }: Pick<Surroundings, "homeDirectories">): string {
  return config.settings.dataDir ?? homeDirectories.data;
}

/**
 * The same where the configuration may be broken by now, which must not prevent access to the data of an earlier
 * version: then the one that a flag or variable names, or the platform's usual place.
 */
export async function findDataDirectory(place: Surroundings): Promise<FoundDirectory> {
  try {
    return { dataDir: dataDirectoryOf(await readConfig(place), place), problem: undefined };
  } catch (problem) {
    return { dataDir: ownDataDirectory(place), problem };
  }
}

/** A data directory, and why the configuration could not be asked for it. */
export interface FoundDirectory {
  readonly dataDir: string;
  readonly problem: unknown;
}

/** The data directory as a flag or variable names it, or the platform's usual place. */
export function ownDataDirectory(place: Surroundings): string {
  const given = textOption(place, "data-dir");
  return given === undefined ? place.homeDirectories.data : resolve(place.cwd, given);
}

/** Creates the data directory, readable by its owner only. Throws CONFIG_INVALID when that fails. */
export function openDataDirectory(config: Config, place: Pick<Surroundings, "homeDirectories">): string {
  return openDirectory(dataDirectoryOf(config, place));
}

/** Opens the store of a data directory, with the key that the program was given. */
export function storeIn(dataDir: string, place: Pick<Surroundings, "env" | "unlocked">): Store {
  return openStore({ dataDir, vaultKey: vaultKeyOf(place) });
}

/**
 * The data directory as a flag or variable names it, or the platform's usual place: for what does not depend on a
 * configuration. Creates it. Throws CONFIG_INVALID when that fails.
 */
export function openOwnDataDirectory(place: Surroundings): string {
  return openDirectory(ownDataDirectory(place));
}

interface ConfigProblems {
  readonly file: string | undefined;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** All problems of the configuration, each with its place. */
export async function findProblems(place: Surroundings): Promise<ConfigProblems> {
  try {
    const { file, warnings } = await readConfig(place);
    const isWrong = (warning: string): boolean => / is disabled: /.test(warning);
    return { file, problems: warnings.filter(isWrong), warnings: warnings.filter((warning) => !isWrong(warning)) };
  } catch (error) {
    const file = await findFile(textOption(place, "config"), place.cwd, place.homeDirectories);
    return { file, problems: problemsOf(error), warnings: [] };
  }
}
