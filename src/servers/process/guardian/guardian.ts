import type { ChildProcess, StdioOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Log } from "../../../kernel/runtime/log.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { guardianScript } from "./guardian-script.ts";
import { recordGateway, type GatewayRecord } from "../orphan-sweep.ts";
import {
  createGatewayMark,
  markerVariable,
  toMarkerValue,
  toTreeMark,
  type GatewayMark,
  type TreeMark,
} from "../marker.ts";
import { openProcess } from "../open-process.ts";
import { createProcessTable, type ProcessTable } from "../process-table.ts";
import { workerUrl } from "../../../kernel/runtime/run-worker.ts";

/** What a guardian needs from the gateway. */
export interface GuardianOptions {
  /**
   * The gateway's own environment: PATH for the guardian process, and the marks of gateways that this one is a server
   * of.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * The directory where running gateways that share a data directory record their marks for `sweepLeftovers`;
   * undefined for no record.
   */
  readonly recordDirectory: string | undefined;
  readonly log: Log;
}

/**
 * Knows all process trees of a gateway. Its guardian process outlives the gateway by a moment: when the gateway ends
 * in any way, kill -9 included, it kills all trees. `app` makes one per gateway; the process starts with the first
 * tree.
 *
 * Covered:
 * - Linux, as root or not: whole trees, including children that called setsid, became daemons, or cleared their
 *   environment while they were still descendants.
 * - macOS: process groups, but not children that called setsid.
 * - Windows: processes still linked to their parent (`taskkill /T`).
 * - Without /bin/sh, Node serves as the guardian process.
 *
 * Not covered on Linux: processes of another user (setuid) when the gateway is not root; daemons without a readable
 * mark that stopped being descendants before the watchdog's next look at the tree; containers, which belong to their
 * own daemon.
 */
export interface Guardian extends AsyncDisposable {
  readonly gateway: GatewayMark;
  readonly table: ProcessTable;
  /** The pid of the guardian process; undefined before the first tree. */
  readonly pid: number | undefined;
  /**
   * Makes sure that the guardian process runs, and names a new tree. Call it before each spawn. Throws SPAWN_FAILED
   * when the guardian process cannot be started, because nothing is started without it, and DRAINING after the
   * guardian was disposed of.
   */
  nameTree(): Promise<NamedTree>;
  /** Tells the guardian process about a new tree. `founder` is the pid of the tree's first process. */
  add(founder: number): void;
  /** Tells the guardian process in which other sessions the founder's descendants are now. */
  note(founder: number, sessions: readonly number[]): void;
  /** Tells the guardian process that a tree has ended; its pid may soon be reused. */
  remove(founder: number): void;
}

/** A new tree's name, and how its processes carry it. */
export interface NamedTree {
  readonly mark: TreeMark;
  /** The environment variable that every process of the tree inherits. */
  readonly variable: readonly [name: string, value: string];
}

/** A guardian whose process has not been started yet. */
export function createGuardian(options: GuardianOptions): Guardian {
  const gateway = createGatewayMark();
  /** Pids of the founders, each with the other sessions of its tree. */
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
    // If this fails, the next spawn tries again, and fails if the guardian still cannot be started.
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
    async nameTree() {
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

/**
 * The record matters only when guardian and gateway are both killed, so a full disk is no reason not to start
 * servers.
 */
function keepRecord({ recordDirectory, log }: GuardianOptions, gateway: GatewayMark): GatewayRecord | undefined {
  try {
    return recordDirectory === undefined ? undefined : recordGateway(recordDirectory, gateway);
  } catch (error) {
    log.warn(
      { component: "guardian", error: String(error) },
      "running servers cannot be recorded: if this gateway and its guardian are killed, " +
        "the next gateway will not find its servers",
    );
    return undefined;
  }
}

/** A guardian process that is killed this often is killed on purpose. */
const maxRestarts = 10;

/**
 * Starts the guardian process in a session of its own, so that no terminal and no signal to a process group reaches
 * it. It keeps nothing open but the pipe.
 */
async function openWatcher(environment: GuardianOptions["environment"]): Promise<ChildProcess> {
  const options = {
    cwd: process.platform === "win32" ? process.cwd() : "/",
    detached: true,
    // LC_ALL=C because environments are bytes, which grep would treat as binary in any other locale.
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
  // The guardian process must not keep the gateway alive when nothing else does.
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
 * Under this name even where it is bash: when called `bash` it would take the socket for a remote login and read
 * ~/.bashrc.
 */
const shell = "/bin/sh";

/** Ends the guardian's input and waits until it has finished its last look. */
async function endOf(watcher: ChildProcess): Promise<void> {
  if (watcher.exitCode !== null || watcher.signalCode !== null) return;
  const exited = new Promise((resolve) => watcher.once("exit", resolve));
  watcher.ref();
  watcher.stdin?.end();
  await exited;
}
