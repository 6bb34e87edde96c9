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
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { SecretStore, Store } from "../../store/store.ts";
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
  return await withKeptValues(context, async ({ cwd, env, flags, homeDirectories }) => {
    const [file, { admit }] = [textOption(context, "config"), trustedIn(context)];
    return await loadConfig({ file, again, admit, cwd, env, flags, homeDirectories });
  });
}

/** Reads it again where it refers to variables that are not set, and of which there are kept values. */
async function withKeptValues(
  context: CommandContext,
  load: (context: CommandContext) => Promise<Config>,
): Promise<Config> {
  const config = await load(context);
  const unset = Object.entries(config.identity?.variables ?? {}).filter(([, value]) => value === null);
  if (unset.length === 0) return config;
  const kept = await readKeptValues(context);
  const found = unset.filter(([name]) => Object.hasOwn(kept, name)).map(([name]) => [name, kept[name]] as const);
  return found.length === 0
    ? config
    : await load({ ...context, env: { ...context.env, ...Object.fromEntries(found) } });
}

/** The name under which they are kept, where the logins of servers are. */
const keptName = "values of variables";
const lockMs = 10_000;

/** Values that were typed for variables of configurations, by name. Empty where they cannot be decrypted. */
export async function readKeptValues(context: CommandContext): Promise<Readonly<Record<string, string>>> {
  return (await keptIn(await storeIn(ownDataDirectory(context), context).secrets())) ?? {};
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
export async function keepValue(context: CommandContext, name: string, value: string | undefined): Promise<boolean> {
  const vault = await storeIn(openOwnDataDirectory(context), context).secrets();
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
  context: CommandContext,
  { file, text }: Pick<ConfigText, "file" | "text">,
): Promise<Config> {
  const realFile = await follow(file);
  const place = { realFile, directory: dirname(realFile) };
  return await withKeptValues(context, async ({ cwd, env, flags, homeDirectories }) => {
    return await loadConfigText({ file, text, place }, { cwd, env, flags, homeDirectories });
  });
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
