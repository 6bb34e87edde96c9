import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { sleep } from "../kernel/abort.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import type { GatewayHolder } from "../store/gateway-holder.ts";
import { compareServed, differingVariables, type Likeness, type Served } from "../store/served.ts";
import { openPlace, readConfig, servedBy, storeIn, type CommandContext } from "./command-context.ts";
import { givenOption, textOption } from "./options.ts";

export interface BackgroundOptions {
  readonly context: CommandContext;
  readonly config: Config;
  readonly dataDir: string;
}

/** A gateway that nobody uses any more ends itself (a client that comes back within that time waits for nothing). */
const idleExitS = 600;
/** One that is stopping takes up to 29 s, and the next one is to start. */
const startTimeoutMs = 60_000;
const lookMs = 50;
/** A running gateway has read a changed file by then. */
const editGraceMs = 2_000;
/**
 * What a background gateway says beside its log: how it started, or why it did not. Emptied at each start, and never
 * long, because the log itself goes to a file that is rotated.
 */
const logName = "background.log";

/** A gateway, and the configuration that was looked for: the file may have changed while it started. */
export interface FoundGateway {
  readonly holder: GatewayHolder;
  readonly config: Config;
}

/**
 * The gateway that serves this configuration, and no other; started in the background when there is none. Rejects with
 * GATEWAY_UNREACHABLE.
 */
export async function findOrStartGateway(options: BackgroundOptions): Promise<FoundGateway> {
  const { context, dataDir } = options;
  const deadline = AbortSignal.timeout(startTimeoutMs);
  const edited = performance.now() + editGraceMs;
  let { config } = options;
  let started: Started | undefined;
  for (;;) {
    const wanted = servedBy(config, context);
    // Asked before the look: whoever it was beaten by is seen by then.
    const code = started?.failed();
    const running = (await storeIn(dataDir, context).lock.list()).map((holder) => ({
      holder,
      likeness: compareServed(holder.serves, wanted, holder.secret),
    }));
    const same = running.filter(({ likeness }) => likeness === "same").map(({ holder }) => holder);
    const ready = same.find(({ url }) => url !== null);
    if (ready !== undefined) return { holder: ready, config };
    if (same.length === 0) {
      const isSoonSame = running.some(({ likeness }) => likeness === "edited") && performance.now() < edited;
      // One that was beaten by another's is no failure: that one is waited for.
      if (code !== undefined) throw unreachable(options, `it ended with code ${code}`);
      if (started === undefined && !isSoonSame) {
        sayWhyNotShared(running, wanted);
        if (running.every(({ likeness }) => likeness === "another")) emptyLog({ ...options, config });
        started = startGateway({ ...options, config });
      } else if (running.some(({ holder }) => holder.pid === started?.pid)) {
        // It runs, with something else: the file was changed before it read it.
        config = await readConfig(context);
      }
    }
    await sleep(lookMs, deadline).catch(() => {
      throw unreachable(options, `it did not answer within ${startTimeoutMs / 1_000} s`);
    });
  }
}

/** Nobody would guess why servers start a second time. */
function sayWhyNotShared(
  running: readonly { readonly holder: GatewayHolder; readonly likeness: Likeness }[],
  wanted: Served,
): void {
  for (const { holder, likeness } of running) {
    if (likeness !== "other-variables") continue;
    const names = differingVariables(holder.serves, wanted, holder.secret).join(", ");
    process.stderr.write(
      `toolyard: the gateway of process ${holder.pid} serves this configuration with other values of ${names}; this client gets one of its own\n`,
    );
  }
}

interface Started {
  readonly pid: number | undefined;
  readonly failed: () => number | undefined;
}

/** In a session of its own: it outlives the client that needed it first. */
function startGateway(options: BackgroundOptions): Started {
  const { context, config, dataDir } = options;
  const log = openSync(logOf(options), "a", 0o600);
  const [, main = ""] = process.argv;
  const logLevel = textOption(context, "log-level");
  const args = [
    main,
    "serve",
    "--host",
    "127.0.0.1",
    "--port",
    "0",
    "--log-format",
    "file",
    "--data-dir",
    dataDir,
    // What was given as a variable it inherits, and complains of it under that name.
    ...(givenOption(context, "idle-exit") === undefined ? ["--idle-exit", String(idleExitS)] : []),
    ...(logLevel === undefined ? [] : ["--log-level", logLevel]),
    ...(config.file === undefined ? [] : ["--config", config.file]),
  ];
  const child = spawn(process.execPath, args, {
    cwd: context.cwd,
    detached: true,
    stdio: ["ignore", log, log],
    env: environmentFor(options),
    windowsHide: true,
  });
  closeSync(log);
  let code: number | undefined;
  child.on("exit", (status) => (code = status ?? 1));
  child.on("error", () => (code = 1));
  child.unref();
  return { pid: child.pid, failed: () => code };
}

/**
 * The exposure is each client's own, which it asks for when it connects; what the file refers to has to arrive all
 * the same.
 */
function environmentFor({ context, config }: BackgroundOptions): CommandContext["env"] {
  const { TOOLYARD_EXPOSURE: exposure, ...others } = context.env;
  return Object.hasOwn(config.identity?.variables ?? {}, "TOOLYARD_EXPOSURE")
    ? { ...others, TOOLYARD_EXPOSURE: exposure }
    : others;
}

/** Where background gateways of a configuration write; several of them add to one file. */
function logOf({ context, config, dataDir }: BackgroundOptions): string {
  return join(openPlace(storeIn(dataDir, context), servedBy(config, context)), logName);
}

function emptyLog(options: BackgroundOptions): void {
  closeSync(openSync(logOf(options), "w", 0o600));
}

function unreachable(options: BackgroundOptions, why: string): GatewayError {
  const file = logOf(options);
  const said = lastLines(file);
  return new GatewayError(
    "GATEWAY_UNREACHABLE",
    `the gateway could not be started in the background: ${why}${said === "" ? "" : `\n${said}`}`,
    { hint: `Look at ${file} and at the log in the folder beside it, or give --in-process.` },
  );
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, "utf8").trim().split("\n").slice(-5).join("\n").slice(-2_000);
  } catch {
    return "";
  }
}
