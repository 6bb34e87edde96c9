import type { Readable, Writable } from "node:stream";
import type { StdioTransport } from "../../../config/config.ts";

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
