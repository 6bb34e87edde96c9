import { vaultKeyOf, type Surroundings } from "../../operations/machine/surroundings/surroundings.ts";
import type { GivenLists } from "../../config/given.ts";
import type { Config } from "../../config/config.ts";
import { openDirectory } from "../../store/files/data-directory.ts";
import type { Served } from "../../store/gateway-holder.ts";
import type { Store } from "../../store/store.ts";

/** What a command gets: its flags and its surroundings. */
export interface CommandContext extends Surroundings {
  /** Options that may be given several times. */
  readonly lists?: GivenLists | undefined;
  readonly positionals: readonly string[];
  /** The words after `--`, which are among the positionals. Undefined without `--`. */
  readonly afterDashes?: readonly string[] | undefined;
  /** Whether `toolyard` was typed without a command, which serves, and shows people more than `toolyard serve` does. */
  readonly isBare: boolean;
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

/** Makes the folder in which the gateways of one configuration keep their data. Throws CONFIG_INVALID. */
export function openPlace(store: Store, served: Served): string {
  return openDirectory(store.lock.placeOf(served));
}
