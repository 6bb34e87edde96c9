import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import {
  compareServed,
  differingVariables,
  type GatewayHolder,
  type Likeness,
  type Served,
} from "../../store/gateway-holder.ts";
import { readConfig, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { type CommandContext, openPlace, servedBy } from "../command/command-context.ts";
import { givenOption, textOption } from "../../config/given.ts";
import { sleep } from "../../kernel/runtime/abort.ts";

export interface BackgroundOptions {
  readonly context: CommandContext;
  readonly config: Config;
  readonly dataDir: string;
  /** Told when a gateway is started, and not merely found. */
  readonly onStart?: (() => void) | undefined;
  /** What else a person can do when it cannot be started. */
  readonly otherwise?: string | undefined;
}

/**
 * A background gateway that is no longer used ends after this time. A client that comes back earlier finds its
 * servers running.
 */
export const idleExitS = 600;
/** Long enough for a stopping gateway, which takes up to 29 s, and for the start of the next one. */
const startTimeoutMs = 60_000;
const lookMs = 200;
/** A running gateway has read a changed file within this time. */
const editGraceMs = 2_000;
/**
 * What a background gateway says beside its log: how it started, or why it did not. Emptied at each start, and never
 * long, because the log itself goes to a file that is rotated.
 */
const logName = "background.log";

/**
 * A gateway, and the configuration that was looked for, because the file may have changed while the gateway started.
 */
export interface FoundGateway {
  readonly holder: GatewayHolder;
  readonly config: Config;
}

/**
 * The gateway that serves exactly this configuration. Started in the background when there is none. Rejects with
 * GATEWAY_UNREACHABLE.
 */
export async function findOrStartGateway(options: BackgroundOptions): Promise<FoundGateway> {
  const { context, dataDir } = options;
  const deadline = AbortSignal.timeout(startTimeoutMs);
  const edited = performance.now() + editGraceMs;
  let { config } = options;
  let started: Started | undefined;
  using writes = watchWrites(dirname(logOf(options)), logName);
  for (;;) {
    const wanted = servedBy(config, context);
    // Asked before looking for a gateway: if the one we started ended because another was faster, that other is found
    // afterwards.
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
      // Ending because another gateway was faster is no failure. That other one is waited for.
      if (code !== undefined) throw unreachable(options, `it ended with code ${code}`);
      if (started === undefined && !isSoonSame) {
        sayWhyNotShared(running, wanted);
        if (running.every(({ likeness }) => likeness === "another")) emptyLog({ ...options, config });
        started = startGateway({ ...options, config });
        options.onStart?.();
      } else if (running.some(({ holder }) => holder.pid === started?.pid)) {
        // It runs with another configuration, because the file was changed before it was read.
        config = await readConfig(context);
      }
    }
    // Its lock is written when it answers: looking again and again would take from the time that it needs.
    await writes.pause(lookMs, deadline).catch(() => {
      throw unreachable(options, `it did not answer within ${startTimeoutMs / 1_000} s`);
    });
  }
}

/** Explains why servers are started a second time, which is not obvious. */
function sayWhyNotShared(
  running: readonly { readonly holder: GatewayHolder; readonly likeness: Likeness }[],
  wanted: Served,
): void {
  for (const { holder, likeness } of running) {
    if (likeness !== "other-variables") continue;
    const names = differingVariables(holder.serves, wanted, holder.secret).join(", ");
    process.stderr.write(
      `toolyard: the gateway of process ${holder.pid} serves this configuration with other values of ${names}; ` +
        `this client gets one of its own\n`,
    );
  }
}

interface Started {
  readonly pid: number | undefined;
  readonly failed: () => number | undefined;
}

/** Starts the process in a session of its own, because it outlives the client that needed it first. */
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
    // Options that were given as variables are inherited, so that errors about them name the variable.
    ...(givenOption(context, "idle-exit") === undefined ? ["--idle-exit", String(idleExitS)] : []),
    ...(logLevel === undefined ? [] : ["--log-level", logLevel]),
    // One that was found is found again, so that it is used as what it is: with what was allowed of it.
    ...(config.file === undefined || textOption(context, "config") === undefined ? [] : ["--config", config.file]),
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
 * Without the exposure, which each client asks for when it connects. A variable that the file refers to is kept in
 * any case.
 */
function environmentFor({ context, config }: BackgroundOptions): CommandContext["env"] {
  const { TOOLYARD_EXPOSURE: exposure, ...others } = context.env;
  return Object.hasOwn(config.identity?.variables ?? {}, "TOOLYARD_EXPOSURE")
    ? { ...others, TOOLYARD_EXPOSURE: exposure }
    : others;
}

/** The log file of a configuration's background gateways. Several of them append to the same file. */
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
    { hint: `Look at ${file} and at the log in the folder beside it${options.otherwise ?? ""}.` },
  );
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, "utf8").trim().split("\n").slice(-5).join("\n").slice(-2_000);
  } catch {
    return "";
  }
}

/** Watches writes in a folder. Disposing ends it. */
interface FolderWrites extends Disposable {
  /** Resolves with the next write, at once if there was one since the last pause, and after `mostMs` in any case. */
  pause(mostMs: number, signal: AbortSignal): Promise<void>;
}

/**
 * Watches for files of a folder that are written or replaced, apart from `ignored`. Where the system has no watch to
 * give, each pause takes as long as it may.
 */
function watchWrites(folder: string, ignored: string): FolderWrites {
  let isWritten = false;
  let next = new AbortController();
  const watcher = openWatch(folder, (name) => {
    if (name === ignored) return;
    isWritten = true;
    next.abort(new Error("written"));
  });
  return {
    async pause(mostMs, signal) {
      if (!isWritten) await sleep(mostMs, AbortSignal.any([signal, next.signal])).catch(() => undefined);
      signal.throwIfAborted();
      isWritten = false;
      next = new AbortController();
    },
    [Symbol.dispose]: () => watcher?.close(),
  };
}

function openWatch(folder: string, onWrite: (name: string | null) => void): ReturnType<typeof watch> | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => onWrite(name));
    return watcher.on("error", () => undefined);
  } catch {
    return undefined;
  }
}
