import { buildGateway } from "../app/gateway.ts";
import { refuseEndlessNesting } from "../app/nesting.ts";
import { followConfigFile } from "../app/reload.ts";
import type { Config } from "../config/config.ts";
import { sleep } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import type { GatewayHolder } from "../store/gateway-holder.ts";
import { findOrStartGateway, type BackgroundOptions } from "./background.ts";
import {
  openDataDirectory,
  openLog,
  openPlace,
  readConfig,
  servedBy,
  storeIn,
  type CommandContext,
} from "./command-context.ts";
import { tuneGarbageCollector } from "./garbage-collector.ts";
import { collectAtRest } from "./resting-heap.ts";
import { isOn, textOption } from "./options.ts";
import { openOwnerSocket, type OwnerSocket } from "./owner-client.ts";

// What tries a server is made of the same parts. Loaded with this command: as an entry of its own it would split what
// every start loads into two more files.
export { tryServers } from "../app/server-trial.ts";

/** `toolyard stdio`: MCP on stdin and stdout until the client closes them. */
export async function stdio(context: CommandContext): Promise<number> {
  const config = await readConfig(context);
  return isOn(context, "in-process") ? await serveInProcess(context, config) : await bridge(context, config);
}

/**
 * Connects the client to the gateway that serves this configuration, which is started in the background when there is
 * none. Messages pass byte for byte in both directions. Several clients share the gateway's servers, and closing one
 * client disturbs no other.
 */
async function bridge(context: CommandContext, config: Config): Promise<number> {
  const dataDir = openDataDirectory(config, context);
  const { holder, socket } = await reachGateway({ context, config, dataDir, otherwise: ", or give --in-process" });
  return await new Promise((resolve) => {
    let clientLeft = false;
    const leave = (): void => {
      clientLeft = true;
      socket.end();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => {
        leave();
        socket.destroy();
      });
    process.stdin.on("end", leave);
    process.stdin.on("error", leave);
    process.stdout.on("error", leave);
    process.stdin.pipe(socket, { end: false });
    socket.pipe(process.stdout, { end: false });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      process.stdin.destroy();
      if (!clientLeft) process.stderr.write(`toolyard: the gateway of process ${holder.pid} ended\n`);
      resolve(clientLeft ? 0 : 1);
    });
  });
}

/** A gateway that has just begun to stop may be gone by the time it is contacted. Then another one is looked for. */
async function reachGateway(options: BackgroundOptions): Promise<OwnerSocket & { readonly holder: GatewayHolder }> {
  const { context } = options;
  for (let tries = 1; ; tries += 1) {
    const { holder, config } = await findOrStartGateway(options);
    try {
      const opened = await openOwnerSocket(holder, "bridge", endpointOf(context, config));
      if (opened.configFile === (holder.serves.configFile ?? "")) return { holder, ...opened };
      opened.socket.destroy();
      throw new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${holder.pid} changed its configuration`);
    } catch (error) {
      if (tries === mostTries) throw error;
      await sleep(retryMs, new AbortController().signal);
    }
  }
}

const mostTries = 5;
const retryMs = 100;

/**
 * The endpoint of the exposure that this client asked for, otherwise of the one that the running gateway shows by
 * default.
 */
function endpointOf(context: CommandContext, { settings }: Config): string {
  const exposure = textOption(context, "exposure");
  if (exposure === undefined) return "/mcp";
  return settings.transparent === undefined ? `/mcp/${exposure}` : `/mcp/server/${settings.transparent}`;
}

/**
 * Serves everything from this process, with its own servers and without a lock. What it learns is kept in the folder
 * of this configuration's gateways.
 */
async function serveInProcess(context: CommandContext, config: Config): Promise<number> {
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
    ended.abort(new Error("the client has gone"));
    // A client that was given up (a line without an end, nobody reading) may keep its end open, which would keep this
    // process alive.
    process.stdin.destroy();
    await gateway[Symbol.asyncDispose]();
  }
  return 0;
}
