import type { StdioTransport } from "../../../config/config.ts";
import type { Log } from "../../../kernel/runtime/log.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { ConnectOptions } from "../connect.ts";
import type { Connection } from "../connection.ts";
import { childEnvironment, type Environment } from "../../process/child-environment.ts";
import { connectStdio } from "../stdio/connect-stdio.ts";
import type { SpawnServer } from "../stdio/server-process.ts";
import { brokenFolderIn, folderWithoutProgram, moveAside } from "./broken-folder.ts";
import { createConfinedNpx, isConfined, withRegistry, type ConfinedNpx } from "./confined-npx.ts";
import { createInstalledNpx } from "./installed-npx.ts";
import { findNpxFolders, type NpxFolders, npxFormOf } from "./npx-form.ts";
import { packageRunnerOf } from "./package-runner.ts";

type StdioConnection = Connection & { readonly pid: number };
type StdioOptions = ConnectOptions<StdioTransport>;

/** What connecting to package runners needs. */
export interface RunnerDeps {
  readonly spawn: SpawnServer;
  /** The gateway's own environment; servers get a part of it. */
  readonly environment: Environment;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** Whether to start what npx has installed without npx. Called each time, because the configuration may change. */
  readonly npxFromFolder: () => boolean;
}

/**
 * Like `connectStdio`. In addition, programs that npx has already installed are started without npx, and broken
 * install folders are moved aside.
 */
export type ConnectRunner = (options: StdioOptions, signal: AbortSignal) => Promise<StdioConnection>;

/**
 * A folder is moved aside at most once in this time, because a package that is itself broken is broken again after
 * each install.
 */
const repairAgainMs = 86_400_000;
/** How many moved folders are remembered; beyond it the oldest is forgotten. */
const mostRepaired = 1_000;
/** Lines of stderr that are examined: enough for an error with its list of requiring modules. */
const keptLines = 40;

/** Knows no installed programs at first. */
export function createConnectRunner(deps: RunnerDeps): ConnectRunner {
  const installed = createInstalledNpx(deps.clock);
  const confined = createConfinedNpx(deps.spawn, deps.clock);
  const repairedAtMs = new Map<string, number>();

  const foldersOf = async ({ env }: StdioTransport): Promise<NpxFolders | undefined> =>
    await findNpxFolders(childEnvironment(deps.environment, env));

  async function connectFromFolder(options: StdioOptions, signal: AbortSignal): Promise<StdioConnection | undefined> {
    const direct = deps.npxFromFolder() ? await installed.find(options.transport) : undefined;
    if (direct === undefined) return undefined;
    try {
      return await connectStdio({ ...options, transport: direct }, deps.spawn, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      installed.forget(options.transport);
      deps.log.info(
        { component: "upstream", server: options.server, operation: "npx-folder", err: error },
        `${options.server} did not start from the folder that npx installed; npx is asked again`,
      );
      return undefined;
    }
  }

  async function connectByNpx(options: StdioOptions, signal: AbortSignal): Promise<StdioConnection> {
    let lines: readonly string[] = [];
    const spawn: SpawnServer = async (transport, listener, given) => {
      const onStderr = (line: string, written: string): void => {
        lines = [...lines.slice(1 - keptLines), written];
        listener.onStderr(line, written);
      };
      return await deps.spawn(transport, { ...listener, onStderr }, given);
    };
    try {
      return await connectStdio(options, spawn, signal);
    } catch (error) {
      if (signal.aborted || !(await repair(options, lines))) throw error;
      return await connectStdio(options, deps.spawn, signal);
    }
  }

  /** Resolves to true when a folder was moved aside, so that another start may succeed. */
  async function repair({ server, transport, events }: StdioOptions, lines: readonly string[]): Promise<boolean> {
    const folders = await foldersOf(transport);
    if (folders === undefined) return false;
    const form = npxFormOf(transport);
    const folder =
      brokenFolderIn(lines, folders) ??
      (form === undefined ? undefined : await folderWithoutProgram(lines, form, folders.names));
    if (folder === undefined || !mayRepair(repairedAtMs, `${folders.names[0]}/${folder}`, deps.clock.now()))
      return false;
    const aside = await moveAside(folders, folder, deps.clock.now());
    if (aside === undefined) return false;
    const message =
      `the folder that npx installed ${server} into is broken; ` +
      `it was moved to ${aside}, and npx installs the server again`;
    deps.log.warn({ component: "upstream", server, operation: "npx-folder", aside }, message);
    events.onStderr(`(${message})`);
    return true;
  }

  return async (options, signal) => {
    const { transport } = options;
    if (isConfined(transport)) return await connectConfined(options, { confined, spawn: deps.spawn }, signal);
    if (packageRunnerOf(transport) !== "npx") return await connectStdio(options, deps.spawn, signal);
    const direct = await connectFromFolder(options, signal);
    if (direct !== undefined) return direct;
    const connection = await connectByNpx(options, signal);
    const folders = deps.npxFromFolder() ? await foldersOf(transport) : undefined;
    if (folders !== undefined) await installed.note(transport, connection.pid, folders);
    return connection;
  };
}

function mayRepair(repairedAtMs: Map<string, number>, folder: string, nowMs: number): boolean {
  const beforeMs = repairedAtMs.get(folder);
  if (beforeMs !== undefined && nowMs - beforeMs < repairAgainMs) return false;
  const [oldest] = repairedAtMs.keys();
  if (repairedAtMs.size >= mostRepaired && oldest !== undefined) repairedAtMs.delete(oldest);
  repairedAtMs.set(folder, nowMs);
  return true;
}

/** What npx would start is installed first. Every other runner runs inside, with its registry beside its hosts. */
async function connectConfined(
  options: StdioOptions,
  { confined, spawn }: { readonly confined: ConfinedNpx; readonly spawn: SpawnServer },
  signal: AbortSignal,
): Promise<StdioConnection> {
  const { server, transport, events, instance = server } = options;
  if (!isConfined(transport)) return await connectStdio(options, spawn, signal);
  const listener = { instance, onStderr: events.onStderr };
  // The registry is none of the hosts that the server itself needs.
  const installing = { ...listener, events: { ...events, onReached: () => undefined } };
  const direct = await confined.install(transport, installing, signal);
  const sandbox = withRegistry(transport, packageRunnerOf(transport) ?? "docker", transport.sandbox);
  try {
    return await connectStdio({ ...options, transport: direct ?? { ...transport, sandbox } }, spawn, signal);
  } catch (error) {
    confined.forget(transport, instance);
    throw error;
  }
}
