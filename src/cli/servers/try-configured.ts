import { findConfigured } from "../../operations/machine/servers/configured-server.ts";
import { type ServerTrial, toTrialText } from "../../operations/machine/servers/trial-result.ts";
import { refuseEndlessNesting } from "../../app/servers/loop-guard.ts";
import { openDirectory } from "../../store/files/data-directory.ts";
import type { Config, ServerConfig } from "../../config/config.ts";
import { dataDirectoryOf, vaultKeyOf } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import { isOn } from "../../config/given.ts";
import { printText } from "../terminal/fitted-text.ts";
import { showWaiting, interrupted } from "../terminal/waiting-line.ts";

/** `toolyard servers test [NAME …]`: starts servers of the file apart from the running gateway. */
export async function tryConfigured(context: CommandContext, words: readonly string[]): Promise<number> {
  const config = await readConfig(context);
  const chosen = words.length === 0 ? config.servers : words.map((word) => findConfigured(config, word));
  if (chosen.length === 0) {
    process.stderr.write("There are no servers. `toolyard servers add` adds one.\n");
    return 0;
  }
  const trials = await runTrial(context, config, chosen, dataDirectoryOf(config, context));
  return reportTrials(context, trials);
}

/** Prints what came of each; the exit code says whether all can be used. */
export function reportTrials(context: CommandContext, trials: readonly ServerTrial[]): number {
  for (const trial of trials)
    if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(trial)}\n`);
    else printText(process.stdout, toTrialText(trial).join("\n"));
  return trials.every(({ isUsable }) => isUsable) ? 0 : 1;
}

/** Tries servers, and shows on stderr that this takes a while. Loads the gateway only now: other commands need none. */
export async function runTrial(
  context: CommandContext,
  config: Config,
  servers: readonly ServerConfig[],
  dataDir: string,
): Promise<readonly ServerTrial[]> {
  refuseEndlessNesting(context.env);
  const { longestTrialMs, tryServers } = await import("../gateway/own-gateway.ts");
  const names = servers.map(({ key }) => key).join(", ");
  const waiting = showWaiting(`starting ${names}`, process.stderr);
  try {
    return await tryServers(config, servers, {
      dataDir: openDirectory(dataDir),
      vaultKey: vaultKeyOf(context),
      environment: context.env,
      version: context.version,
      signal: interrupted(),
      limitMs: longestTrialMs,
    });
  } finally {
    waiting.end();
  }
}
