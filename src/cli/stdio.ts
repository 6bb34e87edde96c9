import { createGateway } from "../app/gateway.ts";
import { serveStdio } from "../front/mcp/stdio.ts";
import { systemClock } from "../shared/clock.ts";
import { localPrincipal } from "../shared/principal.ts";
import { openDataDirectory, openLog, readConfig, type CommandContext } from "./context.ts";

/** `toolyard stdio`: MCP on stdin and stdout until the client closes them. */
export async function stdio(context: CommandContext): Promise<number> {
  const config = await readConfig(context);
  const dataDir = openDataDirectory(config, context);
  let current = config;
  const log = openLog(() => current, typeof context.flags["log-level"] === "string" ? context.flags["log-level"] : "warn");
  const gateway = createGateway(config, { log, clock: systemClock, version: context.version, environment: context.env, dataDir });
  const endpoint = gateway.mcp.endpointOf("/mcp");
  if (endpoint === undefined) return 1;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.stdin.destroy());
  try {
    await gateway.apply(config);
    current = gateway.config();
    await serveStdio({ input: process.stdin, output: process.stdout, endpoint, principal: localPrincipal, parts: gateway.mcp.parts, limits: config.settings.limits });
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
  return 0;
}
