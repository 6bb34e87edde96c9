import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { EditableConfig } from "../../config/edit/config-edit.ts";
import { variableOf, type ConfigFlags } from "../../config/given.ts";
import type { Management } from "../../operations/request/management.ts";
import { createConfigEditor } from "./config-editor.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { createOwnCommands } from "./own-commands.ts";

/** What a command that serves knows of its own start. */
export interface Surroundings {
  readonly program: readonly [command: string, ...args: string[]];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The flags of the command line. */
  readonly flags: ConfigFlags;
  readonly cwd: string;
  /** The user's folder for configurations: the file is made there if there is none. */
  readonly configFolder: string;
  readonly dataDir: string;
  /** What a text would mean in place of the file, with the flags and variables of the start. */
  readonly loadText: (file: string, text: string) => Promise<Config>;
  /** Called before the file is written. */
  readonly beforeSave: (opened: EditableConfig, text: string) => Promise<void>;
  /** Reads the configuration file as it is now, with the flags and variables of the start. */
  readonly load: () => Promise<Config>;
  /** The configuration of the start. */
  readonly started: Config;
}

/** The changes that the operator may make over REST, loaded with it. */
export function createManagement(gateway: GatewayParts, surroundings: Surroundings): Management {
  const { started, configFolder, dataDir, loadText, beforeSave, flags, environment: env } = surroundings;
  const file = (): string => gateway.config().file ?? join(configFolder, "toolyard.json");
  return {
    ...createConfigEditor({
      ...{ gateway, file, beforeSave, started, startedWith: { flags, env } },
      loadText: async (text) => await loadText(file(), text),
    }),
    run: createOwnCommands({
      ...surroundings,
      environment: { ...env, ...asVariables(flags), ...meansAnother },
      options: () => ["--config", file(), "--data-dir", dataDir],
    }),
  };
}

/** Were it set for the operator's own commands, the pages would change another gateway. */
const meansAnother = Object.freeze({ [variableOf("gateway")]: undefined });

/**
 * What this gateway was told by flags, for commands that have no such flags: `connect` is to write the port that it
 * listens on, and not that of the file.
 */
function asVariables(flags: ConfigFlags): Readonly<Record<string, string>> {
  // A port that the system chose is no address to write anywhere.
  const isTold = (name: string, value: unknown): boolean =>
    value !== undefined && value !== false && !(name === "port" && value === "0");
  const given = Object.entries(flags).filter(([name, value]) => isTold(name, value));
  return Object.fromEntries(given.map(([name, value]) => [variableOf(name), String(value)]));
}
