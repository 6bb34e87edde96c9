import type { Readable, Writable } from "node:stream";
import type { StdioTransport } from "../../../config/config.ts";
import { childEnvironment, type Environment } from "../../process/child-environment.ts";
import type { Guardian } from "../../process/guardian/guardian.ts";
import { spawnTree } from "../../process/spawn-tree.ts";
import { readStderr } from "../../process/stderr-lines.ts";
import { defaultTreeLimits, type Watchdog } from "../../process/guardian/watchdog.ts";

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

/** Starts a server's process. Rejects with SPAWN_FAILED. */
export type SpawnServer = (
  transport: StdioTransport,
  /**
   * Gets each line of stderr: `line` with its secrets redacted, and `written` as the server wrote it. `written` may
   * be searched for known texts, but must not be shown to anybody.
   */
  onStderr: (line: string, written: string) => void,
  signal: AbortSignal,
) => Promise<ServerProcess>;

/** What starting servers needs. */
export interface SpawnServerDeps {
  readonly guardian: Guardian;
  readonly watchdog: Watchdog;
  /** The gateway's own environment; servers get a small, safe part of it. */
  readonly environment: Environment;
  /** Replaces secrets in what the server writes to stderr. */
  readonly redact: (text: string) => string;
}

/**
 * Makes the function that starts processes for `connectStdio`: each in a tree of its own, known to the guardian,
 * watched for excess, and with its stderr read at all times.
 */
export function createSpawnServer(deps: SpawnServerDeps): SpawnServer {
  return async (transport: StdioTransport, tell, signal): Promise<ServerProcess> => {
    signal.throwIfAborted();
    const onStderr = (line: string): void => tell(deps.redact(line), line);
    const tree = await spawnTree(
      {
        command: transport.command,
        args: transport.args,
        env: childEnvironment(deps.environment, transport.env),
        cwd: transport.cwd,
      },
      deps.guardian,
    );
    const stderr = readStderr(tree.stderr, {
      onLine: onStderr,
      onDropped: (bytes) => onStderr(`(${bytes} bytes of stderr were dropped: the server writes too much)`),
    });
    deps.watchdog.watch(tree, defaultTreeLimits, (reason) => onStderr(`(the server is killed: ${reason})`));
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
