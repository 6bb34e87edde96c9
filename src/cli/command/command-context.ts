import { dirname, resolve } from "node:path";
import { keySourceOf, type KeySource } from "../../config/key-source.ts";
import type { Config } from "../../config/config.ts";
import type { HomeDirectories } from "../../config/file/directories.ts";
import { follow } from "../../config/file/file.ts";
import type { EditableConfig } from "../../config/edit/config-edit.ts";
import { describeFound, loadConfig, loadConfigText, type ConfigText } from "../../config/load.ts";
import { openDirectory } from "../../app/data-directory.ts";
import { openStore } from "../../app/records/store-backend.ts";
import { createTrustedConfigs, type TrustedConfigs } from "../../store/files/trusted-configs.ts";
import type { Served } from "../../store/gateway-identity.ts";
import type { Store } from "../../store/store.ts";
import { textOption, type GivenFlags, type GivenLists } from "./options.ts";

/** What a command gets: its flags and its surroundings. */
export interface CommandContext {
  readonly flags: GivenFlags;
  /** Options that may be given several times. */
  readonly lists?: GivenLists | undefined;
  readonly positionals: readonly string[];
  /** The words after `--`, which are among the positionals. Undefined without `--`. */
  readonly afterDashes?: readonly string[] | undefined;
  /** Whether `toolyard` was typed without a command, which serves, and shows people more than `toolyard serve` does. */
  readonly isBare: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home directory, in which other programs keep their files. */
  readonly home: string;
  readonly homeDirectories: HomeDirectories;
  readonly version: string;
}

/**
 * Reads the configuration. `again` is for callers that have already found a file: looking again could find another one
 * by now. Rejects with UntrustedConfig for a found file that the user did not allow; see `trust-question.ts`.
 */
export async function readConfig(context: CommandContext, again?: string): Promise<Config> {
  return await loadConfig({
    file: textOption(context, "config"),
    again,
    admit: trustedIn(context).admit,
    cwd: context.cwd,
    env: context.env,
    flags: context.flags,
    homeDirectories: context.homeDirectories,
  });
}

/** The found configurations that this user allowed: one list for all data directories, as each names its own. */
export function trustedIn({ homeDirectories }: Pick<CommandContext, "homeDirectories">): TrustedConfigs {
  return createTrustedConfigs(homeDirectories.data);
}

/**
 * Called before a file is written by a command of ours: a file that was allowed stays allowed with the new text, and so
 * does one that is new.
 */
export async function carryTrust(context: CommandContext, opened: EditableConfig, text: string): Promise<void> {
  const trusted = trustedIn(context);
  const after = await describeFound({ file: opened.file, text }, context);
  if (opened.mode !== undefined) {
    const before = await describeFound(opened, context);
    if ((await trusted.find(before.place))?.hash !== before.hash) return;
  }
  await trusted.allow(after);
}

/** What a text would mean in place of a file. Rejects with CONFIG_INVALID. */
export async function readConfigText(
  { cwd, env, flags, homeDirectories }: CommandContext,
  { file, text }: Pick<ConfigText, "file" | "text">,
): Promise<Config> {
  const realFile = await follow(file);
  const place = { realFile, directory: dirname(realFile) };
  return await loadConfigText({ file, text, place }, { cwd, env, flags, homeDirectories });
}

/** The key that encrypts logins, when the user does not want a key file. */
export function vaultKeyOf(context: CommandContext): KeySource {
  return keySourceOf(context.env);
}

/**
 * Identifies what a gateway of this configuration serves. The key of the logins is part of it, because without that
 * key their servers cannot be reached.
 */
export function servedBy(config: Config, context: CommandContext): Served {
  const { realFile = null, directory = null, variables = {} } = config.identity ?? {};
  return {
    configFile: realFile,
    directory,
    variables: { ...variables, TOOLYARD_KEY: vaultKeyOf(context).secret ?? null },
  };
}

/** The configured data directory, or the platform's usual place. Does not create it. */
export function dataDirectoryOf(config: Config, context: CommandContext): string {
  return config.settings.dataDir ?? context.homeDirectories.data;
}

/**
 * The same where the configuration may be broken by now, which must not prevent access to the data of an earlier
 * version: then the one that a flag or variable names, or the platform's usual place.
 */
export async function findDataDirectory(context: CommandContext): Promise<FoundDirectory> {
  try {
    return { dataDir: dataDirectoryOf(await readConfig(context), context), problem: undefined };
  } catch (problem) {
    return { dataDir: ownDataDirectory(context), problem };
  }
}

/** A data directory, and why the configuration could not be asked for it. */
export interface FoundDirectory {
  readonly dataDir: string;
  readonly problem: unknown;
}

function ownDataDirectory(context: CommandContext): string {
  const given = textOption(context, "data-dir");
  return given === undefined ? context.homeDirectories.data : resolve(context.cwd, given);
}

/** Creates the data directory, readable by its owner only. Throws CONFIG_INVALID when that fails. */
export function openDataDirectory(config: Config, context: CommandContext): string {
  return openDirectory(dataDirectoryOf(config, context));
}

/** The same for the folder in which the gateways of one configuration keep their data. */
export function openPlace(store: Store, served: Served): string {
  return openDirectory(store.lock.placeOf(served));
}

/**
 * The data directory as a flag or variable names it, or the platform's usual place: for what does not depend on a
 * configuration. Creates it. Throws CONFIG_INVALID when that fails.
 */
export function openOwnDataDirectory(context: CommandContext): string {
  return openDirectory(ownDataDirectory(context));
}

/** Opens the store of a data directory, with the key that this command was given. */
export function storeIn(dataDir: string, context: CommandContext): Store {
  return openStore({ dataDir, vaultKey: vaultKeyOf(context) });
}
