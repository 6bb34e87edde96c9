import { availableParallelism } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { buildGateway, type Gateway } from "../../app/gateway.ts";
import { refuseOpenBind } from "../../app/embedded/open-bind.ts";
import { wholeStopMs, type Owner } from "../../app/owner/owner.ts";
import { refuseEndlessNesting } from "../../app/servers/loop-guard.ts";
import { followConfigFile } from "../../app/reload.ts";
import type { Config } from "../../config/config.ts";
import { toLocalOrigin, toUrl } from "../../kernel/text/host-addresses.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import type { GatewayLock } from "../../store/gateway-holder.ts";
import { openDataDirectory, readConfig, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { servedBy, type CommandContext } from "../command/command-context.ts";
import { openLog } from "../command/command-log.ts";
import { tuneGarbageCollector, collectAtRest } from "../gateway/garbage-collector.ts";
import { followCalls, configurationHints, missingServersHelp, reportStartup } from "./serve-report.ts";
import { openLogOutput, readLogFormat, type LogOutput } from "../records/log-output.ts";
import { givenOption, isOn } from "../../config/given.ts";
import { tellOthers } from "../../operations/machine/doctor/machine-users.ts";
import { claimGateway } from "../gateway/running-gateways.ts";
import { createStopping, whenUnused, type Stopping } from "./stopping.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";
import type { TerminalVisit } from "./guided-start.ts";

/**
 * `toolyard serve`: serves HTTP until it is told to stop. Stdout gets one line once the gateway answers; messages for
 * people go to stderr.
 */
export async function serve(given: CommandContext): Promise<number> {
  refuseEndlessNesting(given.env);
  const visit = await openVisit(given);
  if (typeof visit === "number") return visit;
  const context = visit?.context ?? given;
  tuneGarbageCollector();
  collectAtRest();
  const config = await readConfig(context);
  refuseOpenBind(config, config.settings.host);
  const idleExitMs = readIdleExit(context);
  const dataDir = openDataDirectory(config, context);
  const store = storeIn(dataDir, context);
  const claimed = await claimGateway(store.lock, servedBy(config, context), { dataDir, version: context.version });
  await using lock = claimed.lock;
  let gateway: Gateway | undefined;
  // Lines of the log would go through the view.
  const format = readLogFormat(context) ?? (visit === undefined ? undefined : "file");
  const screen = process.stderr.isTTY ? (await import("../terminal/terminal-screen.ts")).openScreen() : undefined;
  const output = await openLogOutput({ format, screen, folder: claimed.folder });
  const log = openLog({
    config: () => gateway?.config() ?? config,
    tokens: () => gateway?.secrets(),
    write: output.write,
  });
  for (const warning of config.warnings) log.warn({ component: "config" }, warning);
  gateway = buildGateway(config, {
    log,
    clock: systemClock,
    version: context.version,
    environment: context.env,
    dataDir,
    store,
    place: claimed.folder,
  });
  const stopping = createStopping(log);
  const front = gateway.openHttp({
    owner: {
      secret: lock.secret,
      stop: () => stopping.ask("asked by the owner"),
    },
    start: { place: context, dataDir, load: async () => await readServable(context, config), started: config },
  });
  try {
    const address = await front.listen(config.settings.host, config.settings.port);
    const url = toUrl(config.settings.host, address.port);
    await run({
      context,
      config,
      gateway,
      owner: front.owner,
      lock,
      url,
      log,
      output,
      screen,
      visit,
      stopping,
      idleExitMs,
    });
    await front.drain(stopping.hurried);
  } finally {
    await gateway.stop(stopping.waitUntil(wholeStopMs(gateway.config().settings)));
    front.close();
  }
  stopping.exitSoon();
  return 0;
}

interface Running {
  readonly context: CommandContext;
  readonly config: Config;
  readonly gateway: Gateway;
  readonly owner: Owner | undefined;
  readonly lock: GatewayLock;
  readonly url: string;
  readonly log: Log;
  readonly output: LogOutput;
  /** Undefined when stderr is no terminal. */
  readonly screen: TerminalScreen | undefined;
  /** Undefined unless a person typed `toolyard` on a terminal. */
  readonly visit: TerminalVisit | undefined;
  readonly stopping: Stopping;
  readonly idleExitMs: number | undefined;
}

/**
 * A client that waited for the line sends a request at once, and should be answered before thirty servers occupy the
 * machine. A few servers leave room for both. A gateway in the background was started for a client that waits for its
 * first list, and may leave us out when that takes a second: its servers wait until then, or for a command.
 */
async function whenServersMayStart({ gateway, owner, idleExitMs, stopping }: Running): Promise<void> {
  if (gateway.waitingStarts < availableParallelism()) return;
  const isBackground = idleExitMs !== undefined;
  const latestMs = performance.now() + (isBackground ? 1_000 : 60);
  const isAnswered = (): boolean => isBackground && (gateway.listedBy().length > 0 || owner?.isCommanded === true);
  while (performance.now() < latestMs && !isAnswered() && !stopping.asked.aborted)
    await sleep(20, stopping.asked).catch(() => undefined);
}

/** Runs from the first answer until the gateway is to stop. */
async function run(running: Running): Promise<void> {
  const { context, config, gateway, owner, lock, url, log, stopping, idleExitMs } = running;
  let served = config.identity;
  await gateway.apply(config);
  await lock.announce(url, config.settings.port === 0);
  process.stdout.write(`listening on ${url}\n`);
  gateway.events.emit({ type: "gateway.listening", atMs: Date.now(), address: url });
  void whenServersMayStart(running).then(gateway.letServersStart);
  const load = async (): Promise<Config> => {
    const next = await readServable(context, config);
    // A link now leads to another file, or the file refers to other variables. A gateway that starts now must see that.
    if (!isDeepStrictEqual(next.identity, served)) await lock.announceServed(servedBy(next, context));
    served = next.identity;
    return next;
  };
  await followConfigFile({ gateway, load, log, signal: stopping.asked });
  if (idleExitMs !== undefined)
    whenUnused(
      {
        isUsed: () => (owner?.clients ?? 0) > 0 || gateway.requests.running > 0,
        uses: () => gateway.requests.total,
        afterMs: idleExitMs,
        clock: systemClock,
        signal: stopping.asked,
      },
      () => stopping.ask("it is unused"),
    );
  await tellFirstAdmin(running);
  tellPeople(running);
  const reason = await stopping.reason;
  // A command that looks for a gateway from now on should wait for the next one. If a full disk prevents this, it
  // reports that this one cannot be reached.
  await lock.announce(null).catch(() => undefined);
  gateway.events.emit({ type: "gateway.stopping", atMs: Date.now(), reason });
}

/** The file as it is now; one that the gateway must not serve with is refused as a broken one is. */
async function readServable(context: CommandContext, { file, settings }: Config): Promise<Config> {
  const next = await readConfig(context, file);
  refuseOpenBind(next, settings.host);
  return next;
}

/**
 * A secret for the person at the terminal: it never goes into a log, where others read it. Without a terminal,
 * `toolyard user link` prints one.
 */
async function tellFirstAdmin({ config, gateway, url, screen }: Running): Promise<void> {
  if (screen === undefined) return;
  const link = await gateway.setupLink();
  if (link === undefined) return;
  screen.print(`  Set up    ${config.settings.publicUrl ?? url}${link}
            (makes the first admin, once and within the hour; then \`toolyard user link\`)\n`);
}

/** Prints what people want to see of a running gateway. Programs find the same in the log. */
function tellPeople({ context, config, gateway, url, log, output, screen, visit, stopping }: Running): void {
  // Behind a proxy, clients use another address than the one that the gateway listens on.
  const shown = config.settings.publicUrl ?? url;
  if (visit !== undefined && screen !== undefined) {
    void visit.show({ gateway, url: shown, logFile: output.file, log, screen, stopping });
    return;
  }
  if (config.servers.length === 0 && screen === undefined)
    log.warn({ component: "config" }, missingServersHelp(config, context.cwd).replace(/\s+/g, " ").trim());
  if (isOn(context, "verbose"))
    followCalls(gateway.events, (line) => {
      if (screen === undefined) log.info({ component: "calls" }, line.trimEnd());
      else screen.print(line);
    });
  if (screen === undefined) {
    for (const { server, hint } of configurationHints(gateway, config))
      log.info({ component: "config", server }, `${server} ${hint}`);
    void tellOthers(config).then((others) => others && log.info({ component: "config" }, others));
    return;
  }
  const { cwd } = context;
  const dashboardUrl = `${toLocalOrigin(url)}${gateway.dashboardLink()}`;
  void reportStartup({
    gateway,
    config,
    url: shown,
    dashboardUrl,
    cwd,
    logFile: output.file,
    screen,
    stopping: stopping.asked,
  });
}

/**
 * A person on a terminal who typed no command; the exit code where no gateway is to be started. With a log format
 * given, lines of that kind are printed instead.
 */
async function openVisit(context: CommandContext): Promise<TerminalVisit | number | undefined> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY;
  if (!context.isBare || !isTerminal || isOn(context, "verbose") || readLogFormat(context) !== undefined)
    return undefined;
  return await (await import("../short-commands.ts")).visit(context);
}

function readIdleExit(context: CommandContext): number | undefined {
  const given = givenOption(context, "idle-exit");
  if (given === undefined) return undefined;
  const seconds = given.text.trim() === "" ? Number.NaN : Number(given.text);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new GatewayError("CONFIG_INVALID", `${given.name}: expected a number of seconds`, {
      hint: `Correct ${given.name}, or leave it out.`,
    });
  return seconds * 1_000;
}
