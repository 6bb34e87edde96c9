import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { sleep } from "../shared/abort.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import { readGatewayHolder, type GatewayHolder } from "../store/gateway-lock.ts";
import { readStartTime } from "../upstream/process/process-table.ts";
import type { CommandContext } from "./context.ts";
import { givenOption, textOption } from "./options.ts";

export interface BackgroundOptions {
  readonly context: CommandContext;
  readonly config: Config;
  readonly dataDir: string;
}

/** A gateway that nobody uses any more ends itself (issue "Instances", one gateway per data directory). */
const idleExitS = 600;
/** One that is stopping takes up to 29 s, and the next one is to start. */
const startTimeoutMs = 60_000;
const lookMs = 50;
const logName = "background.log";

/** The gateway that holds the data directory; started in the background when there is none. Rejects with GATEWAY_UNREACHABLE. */
export async function findOrStartGateway(options: BackgroundOptions): Promise<GatewayHolder> {
  const { dataDir } = options;
  const deadline = AbortSignal.timeout(startTimeoutMs);
  const find = async () => await readGatewayHolder({ dataDir, startTimeOf: readStartTime });
  let started: { readonly failed: () => number | undefined } | undefined;
  for (;;) {
    const holder = await find();
    if (holder?.url != null) return holder;
    // One that was beaten to the lock by another's is no failure: that one is waited for.
    if (holder === undefined && started?.failed() !== undefined)
      throw unreachable(dataDir, `it ended with code ${started.failed()}`);
    if (holder === undefined) started ??= startGateway(options);
    await sleep(lookMs, deadline).catch(() => {
      throw unreachable(dataDir, `it did not answer within ${startTimeoutMs / 1_000} s`);
    });
  }
}

/** In a session of its own: it outlives the client that needed it first. */
function startGateway({ context, config, dataDir }: BackgroundOptions): { readonly failed: () => number | undefined } {
  const log = openSync(join(dataDir, logName), "w", 0o600);
  const [, main = ""] = process.argv;
  const logLevel = textOption(context, "log-level");
  const args = [
    main,
    "serve",
    "--host",
    "127.0.0.1",
    "--port",
    "0",
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
    env: context.env,
    windowsHide: true,
  });
  closeSync(log);
  let code: number | undefined;
  child.on("exit", (status) => (code = status ?? 1));
  child.on("error", () => (code = 1));
  child.unref();
  return { failed: () => code };
}

function unreachable(dataDir: string, why: string): GatewayError {
  const file = join(dataDir, logName);
  const said = lastLines(file);
  return new GatewayError(
    "GATEWAY_UNREACHABLE",
    `the gateway could not be started in the background: ${why}${said === "" ? "" : `\n${said}`}`,
    { hint: `Look at ${file}, or give --in-process.` },
  );
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, "utf8").trim().split("\n").slice(-5).join("\n").slice(-2_000);
  } catch {
    return "";
  }
}
