import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import {
  carryTrust,
  ownDataDirectory,
  readConfigText,
  type Surroundings,
} from "../../operations/machine/surroundings/surroundings.ts";
import type { Management, MachineOrders } from "../../operations/request/management.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { createConfigEditor } from "./config-editor.ts";
import { findLoginTarget } from "../../operations/machine/servers/configured-server.ts";
import { openBrowser } from "../../operations/machine/surroundings/own-command.ts";
import { abortAfter, untilAborted } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { tryApart } from "./trial-process.ts";

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

/** Trying a server may install a package first. */
const longestMs = 180_000;
/** A person clicks one thing after the other. */
const mostAtOnce = 4;

/** Orders on the machine of the gateway, carried out with its own parts and in its own process. */
function createMachineOrders(
  { config, logins, late }: Pick<GatewayParts, "config" | "logins" | "late">,
  place: Surroundings,
): MachineOrders {
  let running = 0;

  return {
    place,
    async order(sender, work) {
      if (running >= mostAtOnce) throw new GatewayError("RATE_LIMITED", `${running} of these orders run already`);
      running += 1;
      const signal = abortAfter(longestMs, sender);
      const load = async () => await import("../../operations/machine/machine.ts");
      const done = late
        .load("the code for orders on this machine", load)
        .then(async (code) => await work(code, signal));
      // One that was given up counts until it has ended.
      const end = (): void => void (running -= 1);
      done.then(end, end);
      return await untilAborted(done, signal).catch((error: unknown) => {
        throw signal.aborted && !sender.aborted ? tookTooLong(error) : error;
      });
    },
    tryServer: async (tried, signal) => await tryApart(place, tried, signal),
    async logIn(name, signal) {
      const { server, instance } = findLoginTarget(config(), name, undefined);
      const { openCallback } = await late.load(
        "the login",
        async () => await import("../../servers/logins/flow/callback.ts"),
      );
      const way = {
        openCallback: async () => await openCallback(0),
        open: (url: string) => openBrowser(url, process.platform),
      };
      await logins.logIn(server, instance, way, signal);
    },
    async logOut(name) {
      const { server, instance } = findLoginTarget(config(), name, undefined);
      return await logins.logOut(server, instance);
    },
  };
}

function tookTooLong(cause: unknown): GatewayError {
  return new GatewayError("UPSTREAM_TIMEOUT", `it was given up after ${longestMs / 1_000} s`, {
    cause,
    hint: "Order it again: what was installed meanwhile is there then.",
  });
}
