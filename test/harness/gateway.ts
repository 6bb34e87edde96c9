import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "./until.ts";

export const mainFile = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
export const badServerFile = fileURLToPath(new URL("../../test/servers/bad-server.mjs", import.meta.url));

export interface RunningGateway extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a slash. */
  readonly url: string;
  readonly process: ChildProcess;
  readonly directory: string;
  readonly configFile: string;
  stdout(): string;
  stderr(): string;
  /** Ends it with a signal and resolves to its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface GatewayOptions {
  readonly config: unknown;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The command's file, when it is not the one that was built here. */
  readonly main?: string;
  /** Instead of one that the system chooses: of a gateway that was there before. */
  readonly port?: number;
  /** A folder to keep between two gateways; made and removed by the test. */
  readonly directory?: string;
  /** The user and group that it runs as, where that is not the one of the tests. */
  readonly user?: number | undefined;
}

/** A stdio entry for the bad server. */
export function badServer(...flags: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [badServerFile, ...flags] };
}

/** Starts the built gateway as a user would, on a port that the system chooses, and waits until it answers. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "toolyard-test-")));
  const configFile = join(directory, "toolyard.json");
  await writeFile(configFile, typeof options.config === "string" ? options.config : JSON.stringify(options.config));
  const args = [
    options.main ?? mainFile,
    "serve",
    "--config",
    configFile,
    "--port",
    String(options.port ?? 0),
    "--data-dir",
    join(directory, "data"),
    ...(options.args ?? []),
  ];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env },
    ...(options.user === undefined ? {} : { uid: options.user, gid: options.user }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  let gone = false;
  void exited.then(() => (gone = true));
  const url = await until(() => {
    if (gone) throw new Error(`the gateway ended at once:\n${stderr}`);
    return /^listening on (\S+)$/m.exec(stdout)?.[1];
  }).catch((error: unknown) => {
    if (gone) throw error;
    // One that hangs is deaf to anything less, and nobody else knows of it.
    child.kill("SIGKILL");
    throw new Error(`the gateway does not answer; it said:\n${stdout}${stderr}`, { cause: error });
  });
  return {
    url,
    process: child,
    directory,
    configFile,
    stdout: () => stdout,
    stderr: () => stderr,
    async stop(signal = "SIGTERM") {
      if (!gone) child.kill(signal);
      return await exited;
    },
    async [Symbol.asyncDispose]() {
      if (!gone) child.kill("SIGTERM");
      await exited;
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}
