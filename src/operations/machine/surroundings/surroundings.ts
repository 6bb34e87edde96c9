import { dirname, resolve } from "node:path";
import type { Config } from "../../../config/config.ts";
import type { EditableConfig } from "../../../config/edit/config-edit.ts";
import type { HomeDirectories } from "../../../config/file/directories.ts";
import { follow } from "../../../config/file/file.ts";
import { textOption, type GivenFlags } from "../../../config/given.ts";
import { keySourceOf, type KeySource } from "../../../config/key-source.ts";
import { describeFound, loadConfig, loadConfigText, type ConfigText } from "../../../config/load.ts";
import { openDirectory } from "../../../store/files/data-directory.ts";
import { openStore } from "../../../store/files/store-backend.ts";
import { createTrustedConfigs, type TrustedConfigs } from "../../../store/files/trusted-configs.ts";
import type { SecretStore, Store } from "../../../store/store.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

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

/** Reads it again where it refers to variables that are not set, and of which there are kept values. */
export async function withKeptValues(
  place: Surroundings,
  load: (place: Surroundings) => Promise<Config>,
): Promise<Config> {
  const config = await load(place);
  const unset = Object.entries(config.identity?.variables ?? {}).filter(([, value]) => value === null);
  if (unset.length === 0) return config;
  const kept = await readKeptValues(place);
  const found = unset.filter(([name]) => Object.hasOwn(kept, name)).map(([name]) => [name, kept[name]] as const);
  return found.length === 0 ? config : await load({ ...place, env: { ...place.env, ...Object.fromEntries(found) } });
}

/** The name under which they are kept, where the logins of servers are. */
const keptName = "values of variables";
const lockMs = 10_000;

/**
 * Values that were typed for variables of configurations, by name. Empty where they cannot be decrypted, and where
 * their key cannot be had: a configuration that needs none of them stays readable.
 */
export async function readKeptValues(place: Surroundings): Promise<Readonly<Record<string, string>>> {
  try {
    return (await keptIn(await storeIn(place.keptIn ?? ownDataDirectory(place), place).secrets())) ?? {};
  } catch {
    return {};
  }
}

/** Undefined where there are some that cannot be decrypted. */
async function keptIn(vault: SecretStore): Promise<Readonly<Record<string, string>> | undefined> {
  const kept = await vault.read(keptName);
  if (kept.kind === "none") return {};
  return kept.kind === "text" ? (JSON.parse(kept.text) as Record<string, string>) : undefined;
}

/**
 * Keeps a value, encrypted as logins are; undefined removes it. Resolves to whether there was one. Rejects with
 * CONFIG_INVALID where those that are kept cannot be decrypted.
 */
export async function keepValue(place: Surroundings, name: string, value: string | undefined): Promise<boolean> {
  const vault = await storeIn(openOwnDataDirectory(place), place).secrets();
  return await vault.exclusively(keptName, AbortSignal.timeout(lockMs), async () => {
    const kept = await keptIn(vault);
    if (kept === undefined)
      throw new GatewayError("CONFIG_INVALID", "the values that are kept were encrypted with another key", {
        hint: "Set TOOLYARD_KEY as it was, or remove the file `tokens/values_of_variables-*.vault` in the data directory.",
      });
    const { [name]: before, ...others } = kept;
    const next = value === undefined ? others : { ...others, [name]: value };
    if (Object.keys(next).length === 0) await vault.remove(keptName);
    else await vault.write(keptName, JSON.stringify(next));
    return before !== undefined;
  });
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
export function vaultKeyOf({ env }: Pick<Surroundings, "env">): KeySource {
  return keySourceOf(env);
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
export function storeIn(dataDir: string, place: Pick<Surroundings, "env">): Store {
  return openStore({ dataDir, vaultKey: vaultKeyOf(place) });
}

/**
 * The data directory as a flag or variable names it, or the platform's usual place: for what does not depend on a
 * configuration. Creates it. Throws CONFIG_INVALID when that fails.
 */
export function openOwnDataDirectory(place: Surroundings): string {
  return openDirectory(ownDataDirectory(place));
}
