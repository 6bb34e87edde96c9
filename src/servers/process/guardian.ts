import type { ChildProcess, StdioOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Log } from "../../kernel/log.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { guardianScript } from "./guardian-script.ts";
import { recordGateway, type GatewayRecord } from "./leftovers.ts";
import {
  createGatewayMark,
  markerVariable,
  toMarkerValue,
  toTreeMark,
  type GatewayMark,
  type TreeMark,
} from "./marker.ts";
import { openProcess } from "./open-process.ts";
import { createProcessTable, type ProcessTable } from "./process-table.ts";
import { workerUrl } from "../../kernel/worker-file.ts";

export interface GuardianOptions {
  /** The gateway's own environment: PATH for the guardian, and the marks of a gateway that we are a server of. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where running gateways of one data directory leave their marks for `sweepLeftovers`; undefined keeps none. */
  readonly recordDirectory: string | undefined;
  readonly log: Log;
}

/**
 * Knows every process tree of one gateway and outlives the gateway by a moment: when the gateway ends in any way,
 * kill -9 included, its guardian process kills all trees. One per gateway, made by `app`; the process starts with the
 * first tree.
 *
 * Covered: on Linux, as root or not, whole trees with children that called setsid, daemonised or cleared their
 * environment while still descendants. Not covered on Linux: what runs as another user (setuid) when the gateway is
 * not root; a daemon with no mark (cleared or unreadable environment) that stopped being a descendant before the
 * watchdog's next look at the tree; containers, which belong to their own daemon. macOS: process groups, no setsid
 * children. Windows: `taskkill /T`, so what is still linked to its parent. No /bin/sh: Node serves as guardian.
 */
export interface Guardian extends AsyncDisposable {
  readonly gateway: GatewayMark;
  readonly table: ProcessTable;
  /** Pid of the guardian process; undefined before the first tree. */
  readonly pid: number | undefined;
  /**
   * Makes sure that the guardian process runs and names a new tree. Called before each spawn.
   * Throws SPAWN_FAILED when the guardian cannot be started: without it nothing else is. DRAINING once it was closed.
   */
  admit(): Promise<Admission>;
  /** Tells the guardian process of a new tree, by the pid of its founder. */
  add(founder: number): void;
  /** Tells it in which sessions other than its own the founder's descendants are now. */
  note(founder: number, sessions: readonly number[]): void;
  /** The tree is gone: its number may belong to somebody else soon. */
  remove(founder: number): void;
}

export interface Admission {
  readonly mark: TreeMark;
  /** The environment variable that every process of the tree inherits. */
  readonly variable: readonly [name: string, value: string];
}

export function createGuardian(options: GuardianOptions): Guardian {
  const gateway = createGatewayMark();
  /** With the other sessions of their trees. */
  const founders = new Map<number, readonly number[]>();
  const table = createProcessTable();
  let trees = 0;
  let watcher: ChildProcess | undefined;
  let starting: Promise<void> | undefined;
  let record: GatewayRecord | undefined;
  let restarts = 0;
  let closed = false;

  async function start(): Promise<void> {
    record ??= keepRecord(options, gateway);
    const started = await openWatcher(options.environment);
    watcher = started;
    started.once("exit", () => onExit(started));
    started.stdin?.write(`${gateway}\n`);
    tell();
  }

  function ensure(): Promise<void> {
    if (watcher) return Promise.resolve();
    starting ??= start().finally(() => {
      starting = undefined;
    });
    return starting;
  }

  function onExit(ended: ChildProcess): void {
    if (watcher !== ended) return;
    watcher = undefined;
    options.log.warn({ component: "guardian", pid: ended.pid }, "the guardian process ended before the gateway");
    if (founders.size === 0 || restarts >= maxRestarts) return;
    restarts += 1;
    // When this fails, the next spawn tries again, and fails if it must.
    ensure().catch((error: unknown) => {
      options.log.error(
        { component: "guardian", error: String(error) },
        "the guardian process could not be started again",
      );
    });
  }

  function tell(): void {
    watcher?.stdin?.write(`${[...founders].flat(2).join(" ")}\n`);
  }

  return {
    gateway,
    table,
    get pid() {
      return watcher?.pid;
    },
    async admit() {
      if (closed) throw new GatewayError("DRAINING", "the gateway is stopping and starts no more servers");
      await ensure();
      trees += 1;
      const mark = toTreeMark(gateway, trees);
      return {
        mark,
        variable: [markerVariable, toMarkerValue(mark, options.environment[markerVariable])],
      };
    },
    add(founder) {
      founders.set(founder, []);
      tell();
    },
    note(founder, sessions) {
      if (!founders.has(founder)) return;
      founders.set(founder, sessions);
      tell();
    },
    remove(founder) {
      if (founders.delete(founder)) tell();
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      await starting?.catch(() => undefined);
      const ending = watcher;
      watcher = undefined;
      if (ending) await endOf(ending);
      record?.remove();
      record = undefined;
    },
  };
}

/** It is for the case that guardian and gateway are both killed: a full disk is no reason to start nothing. */
function keepRecord({ recordDirectory, log }: GuardianOptions, gateway: GatewayMark): GatewayRecord | undefined {
  try {
    return recordDirectory === undefined ? undefined : recordGateway(recordDirectory, gateway);
  } catch (error) {
    log.warn(
      { component: "guardian", error: String(error) },
      "what runs cannot be recorded: if this gateway and its guardian are killed, the next one will not find its servers",
    );
    return undefined;
  }
}

/** Somebody who kills guardians again and again wants them dead. */
const maxRestarts = 10;

/**
 * Starts the process in a session of its own, so that no terminal and no group kill reaches it, holding nothing but
 * the pipe.
 */
async function openWatcher(environment: GuardianOptions["environment"]): Promise<ChildProcess> {
  const options = {
    cwd: process.platform === "win32" ? process.cwd() : "/",
    detached: true,
    // LC_ALL=C: environments are bytes, which grep would call binary in any other locale.
    env: {
      PATH: environment["PATH"] ?? defaultPath,
      LC_ALL: "C",
      SystemRoot: environment["SystemRoot"],
    },
    stdio: ["pipe", "ignore", "ignore"] satisfies StdioOptions,
    windowsHide: true,
  };
  const child = await openProcess({ ...watcherCommand(), options });
  child.stdin?.on("error", () => undefined);
  // The guardian must not keep a gateway alive that has nothing else to do.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin";

function watcherCommand(): { readonly command: string; readonly args: readonly string[] } {
  if (process.platform !== "win32" && existsSync(shell))
    return { command: shell, args: ["-c", guardianScript, "toolyard-guardian"] };
  return {
    command: process.execPath,
    args: [fileURLToPath(workerUrl(import.meta.url, "guardian-main"))],
  };
}

/**
 * Under this name also where it is bash: called `bash`, it would take the socket for a remote login and read
 * ~/.bashrc.
 */
const shell = "/bin/sh";

/** Ends the guardian's input and waits for its last look round. */
async function endOf(watcher: ChildProcess): Promise<void> {
  if (watcher.exitCode !== null || watcher.signalCode !== null) return;
  const exited = new Promise((resolve) => watcher.once("exit", resolve));
  watcher.ref();
  watcher.stdin?.end();
  await exited;
}
