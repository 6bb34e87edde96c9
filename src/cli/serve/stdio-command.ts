import type { Config } from "../../config/config.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { findOrStartGateway, type BackgroundOptions } from "../gateway/background.ts";
import { openDataDirectory, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { openOwnerSocket, type OwnerSocket } from "../gateway/owner-client.ts";

/** `toolyard stdio`: MCP on stdin and stdout until the client closes them. */
export async function stdio(context: CommandContext): Promise<number> {
  const config = await readConfig(context);
  if (!isOn(context, "in-process")) return await bridge(context, config);
  // An exposure is the default of this process's own gateway already.
  const path = textOption(context, "profile") === undefined ? "/mcp" : endpointOf(context, config);
  return await (await import("../gateway/own-gateway.ts")).serveInProcess(context, config, path);
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

/** A gateway that has just begun to stop may have ended by the time it is contacted. Then another one is looked for. */
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
 * The endpoint of the profile and exposure that this client asked for, otherwise of the one that the running gateway
 * shows by default. Throws CONFIG_INVALID for a profile that the configuration does not have.
 */
function endpointOf(context: CommandContext, { settings }: Config): string {
  const exposure = textOption(context, "exposure");
  const profile = textOption(context, "profile");
  if (profile !== undefined && !Object.hasOwn(settings.profiles, profile))
    throw new GatewayError("CONFIG_INVALID", `there is no profile ${JSON.stringify(profile)} in the configuration`, {
      hint: `There are: ${Object.keys(settings.profiles).join(", ") || "none"}.`,
    });
  const base = profile === undefined ? "/mcp" : `/mcp/p/${profile}`;
  if (exposure === undefined) return base;
  return settings.transparent === undefined ? `${base}/${exposure}` : `${base}/server/${settings.transparent}`;
}
