import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import type { Config } from "./config.ts";
import type { HomeDirectories } from "./directories.ts";
import { parseDocument } from "./document.ts";
import { findFile, readConfigText } from "./file.ts";
import { deepFreeze } from "./freeze.ts";
import { readGiven, type ConfigFlags } from "./given.ts";
import { buildPeople } from "./people.ts";
import { buildServers } from "./servers.ts";
import { buildSettings, readSettings, serverDefaults } from "./settings.ts";
import { findServers, unknownTopFields } from "./source.ts";
import type { Variables } from "./substitution.ts";

export interface LoadOptions {
  /** `--config`; otherwise TOOLYARD_CONFIG, otherwise the first usual file that exists. Relative to `cwd`. */
  readonly file?: string | undefined;
  readonly cwd: string;
  readonly env: Variables;
  readonly flags: ConfigFlags;
  readonly homeDirectories: HomeDirectories;
  /** For `parallelStarts`; default: what this machine has. */
  readonly cores?: number;
}

/**
 * The configuration from file, environment and flags (DESIGN.md sections 9 and 10), frozen throughout. A flag is stronger than
 * its variable, that than the file, that than the default. Without any file there are no servers.
 * Throws GatewayError CONFIG_INVALID; for the file's content the message begins with `file:line:column`. No message holds a value.
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const asked = options.file ?? (options.env["TOOLYARD_CONFIG"] || undefined);
  const file = await findFile(asked, options.cwd, options.homeDirectories);
  return buildConfig(file === undefined ? undefined : { file, text: await readConfigText(file) }, options);
}

/** The same for a text that was read already. `file` is the absolute path at which its relative paths start. Pure. */
export function buildConfig(
  source: { readonly file: string; readonly text: string } | undefined,
  options: Omit<LoadOptions, "file">,
): Config {
  const { env, cwd, flags, homeDirectories, cores = availableParallelism() } = options;
  const document = parseDocument(source?.text ?? "{}", source?.file ?? "(no file)");
  const directory = source ? dirname(source.file) : cwd;

  const given = readGiven(flags, env);
  const read = readSettings(document, env);
  const inherited = serverDefaults(read.written);
  const built = buildServers(findServers(document), {
    document,
    directory,
    variables: env,
    inherited,
  });
  const { servers } = built;
  const found = buildPeople(read, document, servers);
  const defaultDataDir = homeDirectories.data;
  return deepFreeze({
    file: source?.file,
    servers,
    settings: buildSettings({
      read,
      document,
      given,
      servers,
      cwd,
      directory,
      defaultDataDir,
      cores,
    }),
    people: found.people,
    warnings: [...unknownTopFields(document), ...built.warnings, ...read.warnings, ...found.warnings],
    secrets: new Set([...built.secrets, ...read.secrets]),
  });
}
