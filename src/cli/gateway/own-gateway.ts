import { buildGateway } from "../../app/gateway.ts";
import { refuseEndlessNesting } from "../../app/servers/nesting-limit.ts";
import { followConfigFile } from "../../app/reload.ts";
import type { Config } from "../../config/config.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import {
  openDataDirectory,
  openPlace,
  readConfig,
  servedBy,
  storeIn,
  type CommandContext,
} from "../command/command-context.ts";
import { openLog } from "../command/command-log.ts";
import { tuneGarbageCollector } from "./garbage-collector.ts";
import { textOption } from "../command/options.ts";
import { collectAtRest } from "./idle-gc.ts";

// What tries a server is made of the same parts. Loaded with this: as an entry of its own it would split what every
// start loads into two more files.
export { tryServers } from "../../app/fronts/server-trial.ts";

/**
 * Serves everything from this process, with its own servers and without a lock. What it learns is kept in the folder
 * of this configuration's gateways.
 */
export async function serveInProcess(context: CommandContext, config: Config): Promise<number> {
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
    const serving = gateway.serveStdio({ input: process.stdin, output: process.stdout });
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
