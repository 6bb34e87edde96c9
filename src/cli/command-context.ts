import type { Config } from "../config/config.ts";
import type { HomeDirectories } from "../config/directories.ts";
import { loadConfig } from "../config/load.ts";
import { secretsOf } from "../config/secrets.ts";
import type { Log } from "../kernel/log.ts";
import { createPinoLog } from "../records/pino-log.ts";
import { openDirectory } from "../app/data-directory.ts";
import { openStore } from "../app/store-backend.ts";
import type { Served } from "../store/served.ts";
import type { Store } from "../store/store.ts";
import { textOption, type GivenFlags } from "./options.ts";

/** What a command is given: its flags, and where it runs. */
export interface CommandContext {
  readonly flags: GivenFlags;
  readonly positionals: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDirectories: HomeDirectories;
  readonly version: string;
}

/** `file` for who has found one already: another one that would be found before it by now is another configuration. */
export async function readConfig(context: CommandContext, file?: string): Promise<Config> {
  return await loadConfig({
    file: file ?? textOption(context, "config"),
    cwd: context.cwd,
    env: context.env,
    flags: context.flags,
    homeDirectories: context.homeDirectories,
  });
}

export interface LogOptions {
  readonly config: () => Config;
  /** Instead of the configuration's. */
  readonly level?: string | undefined;
  /** Tokens of logins in use; undefined while there is no gateway yet. */
  readonly tokens?: (() => ReadonlySet<string> | undefined) | undefined;
  /** Where lines go: stderr when it is left out. */
  readonly write?: ((line: string) => void) | undefined;
}

/**
 * The log of a command: JSON lines without secrets. They are asked for anew, because a reload or a refresh brings
 * others.
 */
export function openLog({ config, level, tokens, write }: LogOptions): Log {
  return createPinoLog({
    level: level ?? config().settings.logLevel ?? "info",
    secrets: () => new Set([...secretsOf(config()), ...(tokens?.() ?? [])]),
    ...(write === undefined ? {} : { write }),
  });
}

/** What logins are encrypted with, when the user does not want a key file. */
export function vaultKeyOf(context: CommandContext): string | undefined {
  return context.env["TOOLYARD_KEY"] || undefined;
}

/**
 * What a gateway of this configuration serves. The key to the logins belongs to it: without it their servers cannot
 * be reached.
 */
export function servedBy(config: Config, context: CommandContext): Served {
  const { realFile = null, directory = null, variables = {} } = config.identity ?? {};
  return { configFile: realFile, directory, variables: { ...variables, TOOLYARD_KEY: vaultKeyOf(context) ?? null } };
}

export function dataDirectoryOf(config: Config, context: CommandContext): string {
  return config.settings.dataDir ?? context.homeDirectories.data;
}

/** Creates the data directory for the owner only. Throws CONFIG_INVALID when that cannot be done. */
export function openDataDirectory(config: Config, context: CommandContext): string {
  return openDirectory(dataDirectoryOf(config, context));
}

/** The same for what gateways of a configuration keep for themselves. */
export function openPlace(store: Store, served: Served): string {
  return openDirectory(store.lock.placeOf(served));
}

/** What is kept in a data directory, opened as the user of this command may. */
export function storeIn(dataDir: string, context: CommandContext): Store {
  return openStore({ dataDir, vaultKey: vaultKeyOf(context) });
}
