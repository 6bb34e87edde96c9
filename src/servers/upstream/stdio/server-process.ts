import type { Readable, Writable } from "node:stream";
import type { StdioTransport } from "../../../config/config.ts";

/** The running process behind a stdio connection, as `process/` makes it. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last lines of stderr, oldest first. */
  stderrTail(): readonly string[];
  /** Settles when the server itself has exited, whatever its descendants do. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** What it and its descendants have done so far; undefined where that cannot be seen. */
  work(): ServerWork | undefined;
  /**
   * Ends the whole tree: stdin closed, SIGTERM, with `asksTwice` another one at half of the time, after `timeoutMs`
   * SIGKILL. Settles when nothing is left.
   */
  stop(timeoutMs: number, asksTwice?: boolean): Promise<void>;
}

export interface ServerWork {
  readonly pids: readonly number[];
  readonly cpuMs: number;
  readonly ioBytes: number;
}

export type SpawnServer = (
  transport: StdioTransport,
  /**
   * One line of stderr without secrets, and as it was written: for those who look for what they know in it, and show
   * it to nobody.
   */
  onStderr: (line: string, written: string) => void,
  signal: AbortSignal,
) => Promise<ServerProcess>;
