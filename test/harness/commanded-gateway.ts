import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand, type CommandResult } from "./command.ts";
import { startGateway, type RunningGateway } from "./gateway.ts";
import { untilOnline } from "./rest.ts";

/** A gateway that commands are typed for. Its data directory is a folder of the test's own. */
export interface CommandedGateway extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly directory: string;
  /** The options with which a command finds it. */
  readonly place: readonly string[];
  /** Runs a command for it to the end. */
  toolyard(...args: string[]): Promise<CommandResult>;
}

/** Starts it, and waits until its servers are online. */
export async function startCommandedGateway(config: Readonly<Record<string, unknown>>): Promise<CommandedGateway> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-commands-"));
  const gateway = await startGateway({ directory, config });
  await untilOnline(gateway.url);
  const place = ["--config", gateway.configFile, "--data-dir", join(directory, "data")];
  return {
    gateway,
    directory,
    place,
    toolyard: async (...args) => await runCommand([...args, ...place]),
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
