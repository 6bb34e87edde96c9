import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import {
  carryTrust,
  ownDataDirectory,
  readConfigText,
  type Surroundings,
} from "../../operations/machine/surroundings/surroundings.ts";
import type { Management } from "../../operations/request/management.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { createConfigEditor } from "./config-editor.ts";
import { createMachineOrders } from "./machine-orders.ts";

/** What a command that serves knows of its own start. */
export interface Start {
  readonly place: Surroundings;
  readonly dataDir: string;
  /** Reads the configuration file as it is now, with the flags and variables of the start. */
  readonly load: () => Promise<Config>;
  /** The configuration of the start. */
  readonly started: Config;
}

/** The changes that the operator may make over REST, loaded with it. */
export function createManagement(gateway: GatewayParts, { place, dataDir, started }: Start): Management {
  const { flags, env } = place;
  // Made in the user's folder for configurations if there is none.
  const file = (): string => gateway.config().file ?? join(place.homeDirectories.config, "toolyard.json");
  const own = {
    ...place,
    keptIn: ownDataDirectory(place),
    get flags() {
      return { ...withoutChosenPort(flags), config: file(), "data-dir": dataDir };
    },
  };
  return {
    ...createConfigEditor({
      ...{ gateway, file, started, startedWith: { flags, env } },
      beforeSave: async (opened, text) => await carryTrust(place, opened, text),
      loadText: async (text) => await readConfigText(place, { file: file(), text }),
    }),
    machine: createMachineOrders(gateway, own),
  };
}

/** A port that the system chose is no address to write anywhere. */
function withoutChosenPort({ port, ...flags }: Surroundings["flags"]): Surroundings["flags"] {
  return port === undefined || port === "0" ? flags : { ...flags, port };
}
