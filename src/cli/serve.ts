import { createGateway, type Gateway } from "../app/gateway.ts";
import { createHttpFront } from "../app/http-front.ts";
import type { Config } from "../config/config.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import { systemClock } from "../shared/clock.ts";
import { localPrincipal } from "../shared/principal.ts";
import { openDataDirectory, openLog, readConfig, type CommandContext } from "./context.ts";
import { clientHelp, reportServers } from "./serve-report.ts";

/** `toolyard serve`: HTTP until it is told to stop. Stdout gets one line once it answers; people read stderr. */
export async function serve(context: CommandContext): Promise<number> {
  const config = await readConfig(context);
  refuseOpenBind(config);
  const dataDir = openDataDirectory(config, context);
  let gateway: Gateway | undefined;
  const log = openLog(() => gateway?.config() ?? config);
  for (const warning of config.warnings) log.warn({ component: "config" }, warning);
  gateway = createGateway(config, { log, clock: systemClock, version: context.version, environment: context.env, dataDir });
  const front = createHttpFront(gateway, log);
  const address = await front.listen(config.settings.host, config.settings.port);
  const url = `http://${config.settings.host.includes(":") ? `[${config.settings.host}]` : config.settings.host}:${address.port}`;
  process.stdout.write(`listening on ${url}\n`);
  gateway.events.emit({ type: "gateway.listening", atMs: Date.now(), address: url });
  const ended = untilStopped(config.settings.instances.drainTimeoutMs, front, gateway, log);
  await gateway.apply(config);
  if (process.stderr.isTTY || config.settings.logLevel !== "error") {
    process.stderr.write(clientHelp(url, config));
    void reportServers(gateway.fleet, localPrincipal, (line) => process.stderr.write(line));
  }
  return await ended;
}

/** Nobody listens beyond this machine by accident (DESIGN.md, "Safe by default"). */
function refuseOpenBind(config: Config): void {
  const { host, auth } = config.settings;
  const loopback = host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
  const authenticated = auth.tokenHashes.length > 0 || config.people.principals.size > 0;
  if (!loopback && !authenticated && !auth.insecure) throw new GatewayError("BIND_REFUSED", `${host} can be reached from other machines, and nobody has to authenticate`);
}

/** Resolves to the exit code once everything has been stopped in order: SIGTERM drains, a second one does not wait (FAULTS.md 108). */
async function untilStopped(drainTimeoutMs: number, front: ReturnType<typeof createHttpFront>, gateway: Gateway, log: ReturnType<typeof openLog>): Promise<number> {
  const signal = await new Promise<string>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name));
  });
  log.info({ component: "app", operation: "stop" }, `${signal}: stopping`);
  gateway.events.emit({ type: "gateway.stopping", atMs: Date.now(), reason: signal });
  const impatient = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => impatient.abort(new Error("asked twice")));
  await front.drain(AbortSignal.any([impatient.signal, AbortSignal.timeout(drainTimeoutMs)]));
  await gateway[Symbol.asyncDispose]();
  front.close();
  // Whatever a library still holds open must not keep a stopped gateway alive.
  setTimeout(() => process.exit(0), lingerMs).unref();
  return 0;
}

const lingerMs = 500;
