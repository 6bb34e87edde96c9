import type { Duplex, Readable, Writable } from "node:stream";
import type { SandboxRules, StdioTransport } from "../../../config/config.ts";
import type { ConnectionEvents, DeniedReach } from "../connection.ts";
import { childEnvironment, type Environment } from "../../process/child-environment.ts";
import type { Guardian } from "../../process/guardian/guardian.ts";
import { spawnTree, type ProcessTree, type TreeSpec } from "../../process/spawn-tree.ts";
import { readStderr } from "../../process/stderr-lines.ts";
import { defaultTreeLimits, type TreeLimits, type Watchdog } from "../../process/guardian/watchdog.ts";

/** The running process behind a stdio connection; `process/` implements it. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last lines of stderr, oldest first. */
  stderrTail(): readonly string[];
  /** Settles when the server itself has exited, whatever its descendants do. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** What the server and its descendants have done so far; undefined where that cannot be observed. */
  work(): ServerWork | undefined;
  /**
   * Ends the whole tree: closes stdin, sends SIGTERM, with `asksTwice` again at half of the time, and SIGKILL after
   * `timeoutMs`. Resolves when nothing is left.
   */
  stop(timeoutMs: number, asksTwice?: boolean): Promise<void>;
}

/** Work of a process and its descendants since they began. */
export interface ServerWork {
  readonly pids: readonly number[];
  readonly cpuMs: number;
  readonly ioBytes: number;
}

/** Starts a server's process. Rejects with SPAWN_FAILED, SANDBOX_UNAVAILABLE or SANDBOX_REFUSED. */
export type SpawnServer = (
  transport: StdioTransport,
  listener: ProcessListener,
  signal: AbortSignal,
) => Promise<ServerProcess>;

/** Whose process it is, and who hears of it. */
export interface ProcessListener {
  /** Names the server as one person has it; a confined process has a home under this name. */
  readonly instance: string;
  /**
   * Gets each line of stderr: `line` with its secrets redacted, and `written` as the server wrote it. `written` may
   * be searched for known texts, but must not be shown to anybody.
   */
  readonly onStderr: (line: string, written: string) => void;
  /** Where a confined process is concerned. */
  readonly events?: Pick<ConnectionEvents, "onDenied" | "onReached" | "onUnconfined"> | undefined;
}

/** A process that is to be confined. */
export interface WantedProcess extends Omit<StdioTransport, "sandbox">, Pick<ProcessListener, "instance"> {
  readonly sandbox: SandboxRules;
  /** What the configuration gives of `env`, which is the whole environment. */
  readonly given: Readonly<Record<string, string>>;
  readonly onNote: (note: string) => void;
  readonly onDenied: (denied: DeniedReach) => void;
  readonly onReached: (host: string) => void;
}

export type ConfinedPipes = readonly Duplex[];

/** How a confined process is started. */
export interface Confined extends Required<TreeSpec> {
  readonly isConfined: true;
  readonly limits: TreeLimits;
  /** Call it when the process runs: it waits for what comes through these pipes. */
  begin(pipes: ConfinedPipes, signal: AbortSignal): Promise<void>;
  /** Call it when the tree has ended, or was not started. */
  end(): Promise<void>;
}

/**
 * Makes a start confined. Resolves to why it cannot be, where the rules leave that open. Rejects with
 * SANDBOX_UNAVAILABLE, SANDBOX_REFUSED or SPAWN_FAILED.
 */
export type Confine = (
  wanted: WantedProcess,
  signal: AbortSignal,
) => Promise<Confined | { readonly isConfined: false; readonly why: string }>;

/** What starting servers needs. */
export interface SpawnServerDeps {
  readonly guardian: Guardian;
  readonly watchdog: Watchdog;
  /** The gateway's own environment; servers get a small, safe part of it. */
  readonly environment: Environment;
  /** Replaces secrets in what the server writes to stderr. */
  readonly redact: (text: string) => string;
  readonly confine: Confine;
}

/**
 * Makes the function that starts processes for `connectStdio`: each in a tree of its own, known to the guardian,
 * watched for excess, and with its stderr read at all times.
 */
export function createSpawnServer(deps: SpawnServerDeps): SpawnServer {
  return async (transport: StdioTransport, { instance, onStderr: tell, events }, signal): Promise<ServerProcess> => {
    signal.throwIfAborted();
    const onStderr = (line: string): void => tell(deps.redact(line), line);
    const { command, args, cwd, env: given, sandbox } = transport;
    const bare = { command, args, env: childEnvironment(deps.environment, given), cwd };
    const onNote = (note: string): void => onStderr(`(sandbox: ${note})`);
    const confined =
      sandbox === undefined
        ? undefined
        : await deps.confine(
            {
              ...transport,
              ...bare,
              given,
              sandbox,
              instance,
              onNote,
              onDenied: (denied) => events?.onDenied?.(denied),
              onReached: (host) => events?.onReached?.(host),
            },
            signal,
          );
    if (confined?.isConfined === false) events?.onUnconfined?.(confined.why);
    const start = confined?.isConfined === true ? confined : undefined;
    const tree = await openTree(start ?? bare, { start, guardian: deps.guardian }, signal);
    const stderr = readStderr(tree.stderr, {
      onLine: onStderr,
      onDropped: (bytes) => onStderr(`(${bytes} bytes of stderr were dropped: the server writes too much)`),
    });
    deps.watchdog.watch(tree, start?.limits ?? defaultTreeLimits, (reason) =>
      onStderr(`(the server is killed: ${reason})`),
    );
    return {
      pid: tree.pid,
      stdin: tree.stdin,
      stdout: tree.stdout,
      stderrTail: () => stderr.tail().map(deps.redact),
      exited: tree.exited,
      work: tree.work,
      async stop(timeoutMs, asksTwice = false) {
        if (timeoutMs === 0) {
          tree.kill();
          await tree.gone;
          return;
        }
        // The tree has its own deadline; no signal of a caller may leave it running.
        await tree.stop({ timeoutMs, asksTwice }, new AbortController().signal);
      },
    };
  };
}

/** Starts the tree, and gives a confined one what it waits for. Nothing is left of a start that fails. */
async function openTree(
  spec: TreeSpec,
  { start, guardian }: { readonly start: Confined | undefined; readonly guardian: Guardian },
  signal: AbortSignal,
): Promise<ProcessTree> {
  if (start === undefined) return await spawnTree(spec, guardian);
  let tree: ProcessTree | undefined;
  try {
    tree = await spawnTree(spec, guardian);
    await start.begin(tree.pipes, signal);
    signal.throwIfAborted();
  } catch (error) {
    tree?.kill();
    await tree?.gone;
    await start.end();
    throw error;
  }
  void tree.gone.then(start.end);
  return tree;
}
