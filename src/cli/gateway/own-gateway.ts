import { isLoadFailure, requireBuild } from "../../kernel/runtime/late-module.ts";
import { tryServers } from "../../app/fronts/server-trial.ts";
import type { TrialAnswer, TrialAsk } from "../../app/fronts/trial-process.ts";
import { findConfigured } from "../../operations/machine/servers/configured-server.ts";
import type { ServerTrial } from "../../operations/machine/servers/trial-result.ts";
import { GatewayError, toGatewayError, toSentFailure } from "../../kernel/failures/gateway-error.ts";
import { buildGateway } from "../../app/gateway.ts";
import { refuseEndlessNesting } from "../../app/servers/loop-guard.ts";
import { followConfigFile } from "../../app/reload.ts";
import type { Config } from "../../config/config.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import {
  openDataDirectory,
  readConfig,
  readConfigText,
  storeIn,
  vaultKeyOf,
} from "../../operations/machine/surroundings/surroundings.ts";
import { openPlace, servedBy, type CommandContext } from "../command/command-context.ts";
import { openLog } from "../command/command-log.ts";
import { tuneGarbageCollector, collectAtRest } from "./garbage-collector.ts";
import { textOption } from "../../config/given.ts";

// What tries a server is made of the same parts. Loaded with this: as an entry of its own it would split what every
// start loads into two more files.
export { tryServers };

/** A first start may install packages. */
export const longestTrialMs = 120_000;

/** Tries one server for a gateway, in this process that was started for it. Never rejects. */
export async function answerTrial(asked: TrialAsk, signal: AbortSignal): Promise<TrialAnswer> {
  try {
    requireBuild(asked.build);
    return { trial: await tryAsked(asked, signal) };
  } catch (error) {
    return { failure: toSentFailure(isLoadFailure(error) ? replaced(error) : toGatewayError(error)) };
  }
}

function replaced(cause: unknown): GatewayError {
  return new GatewayError("GATEWAY_REPLACED", "this gateway's files were replaced while it ran: nothing can be tried", {
    cause,
  });
}

async function tryAsked({ place, key, text }: TrialAsk, signal: AbortSignal): Promise<ServerTrial> {
  const here = { ...place, env: process.env };
  const config = await (text === undefined ? readConfig(here) : readConfigText(here, text));
  const server = findConfigured(config, key);
  const [trial] = await tryServers(config, [server], {
    dataDir: openDataDirectory(config, here),
    vaultKey: vaultKeyOf(here),
    ...{ environment: here.env, version: here.version, signal, limitMs: longestTrialMs },
  });
  if (trial === undefined) throw new GatewayError("INTERNAL", `${key} was not tried`);
  return trial;
}

/**
 * Serves everything from this process, with its own servers and without a lock. What it learns is kept in the folder
 * of this configuration's gateways.
 */
export async function serveInProcess(context: CommandContext, config: Config, path: string): Promise<number> {
  refuseEndlessNesting(context.env);
  tuneGarbageCollector();
  collectAtRest();
  const dataDir = openDataDirectory(config, context);
  const store = storeIn(dataDir, context);
  const place = openPlace(store, servedBy(config, context));
  // When this fails, whatever has to be stored later reports it.
  await store.lock.prepare(servedBy(config, context)).catch(() => undefined);
  let current = config;
  let secrets: (() => ReadonlySet<string>) | undefined;
  const log = openLog({
    config: () => current,
    level: textOption(context, "log-level") ?? "warn",
    tokens: () => secrets?.(),
  });
  const gateway = buildGateway(config, {
    log,
    clock: systemClock,
    version: context.version,
    environment: context.env,
    dataDir,
    store,
    place,
  });
  secrets = gateway.secrets;
  const ended = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.stdin.destroy());
  try {
    await gateway.apply(config);
    gateway.letServersStart();
    const load = async (): Promise<Config> => (current = await readConfig(context, config.file));
    const serving = gateway.serveStdio({ input: process.stdin, output: process.stdout }, path);
    await Promise.all([serving, followConfigFile({ gateway, load, log, signal: ended.signal })]);
  } finally {
    ended.abort(new Error("the client has disconnected"));
    // A client that was given up (a line without an end, no reader) may keep its end open, which would keep this
    // process alive.
    process.stdin.destroy();
    await gateway[Symbol.asyncDispose]();
  }
  return 0;
}
