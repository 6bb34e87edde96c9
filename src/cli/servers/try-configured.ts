import type { ServerTrial } from "../../app/fronts/server-trial.ts";
import { refuseEndlessNesting } from "../../app/servers/nesting-limit.ts";
import { openDirectory } from "../../app/data-directory.ts";
import type { Config, ServerConfig } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { dataDirectoryOf, readConfig, vaultKeyOf, type CommandContext } from "../command/command-context.ts";
import { isOn } from "../command/options.ts";
import { printText } from "../terminal/fitted-text.ts";
import { showWaiting } from "../terminal/waiting-line.ts";
import { interrupted } from "../terminal/interruption.ts";
import { toTrialText } from "./trial-text.ts";

/** A first start may install packages. */
const longestTrialMs = 120_000;

/** `toolyard servers test [NAME …]`: starts servers of the file apart from the running gateway. */
export async function tryConfigured(context: CommandContext, words: readonly string[]): Promise<number> {
  const config = await readConfig(context);
  const chosen = words.length === 0 ? config.servers : words.map((word) => find(config, word));
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

function find({ servers, file }: Config, name: string): ServerConfig {
  const server = servers.find(({ key, slug }) => key === name || slug === name);
  if (server !== undefined) return server;
  throw new GatewayError(
    "SERVER_UNKNOWN",
    `there is no server ${JSON.stringify(name)} in ${file ?? "the configuration"}`,
    {
      hint: `There are: ${servers.map(({ key }) => key).join(", ") || "none"}.`,
    },
  );
}

/** Tries servers, and shows on stderr that this takes a while. Loads the gateway only now: other commands need none. */
export async function runTrial(
  context: CommandContext,
  config: Config,
  servers: readonly ServerConfig[],
  dataDir: string,
): Promise<readonly ServerTrial[]> {
  refuseEndlessNesting(context.env);
  const { tryServers } = await import("../gateway/own-gateway.ts");
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
