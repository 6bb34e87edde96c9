import type { Readable, Writable } from "node:stream";
import type { StdioTransport } from "../../config/config.ts";

/** The running process behind a stdio connection, as `process/` makes it. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last lines of stderr, oldest first. */
  stderrTail(): readonly string[];
  /** Settles when the server itself has exited, whatever its descendants do. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Ends the whole tree: stdin closed, SIGTERM, after `timeoutMs` SIGKILL. Settles when nothing is left. */
  stop(timeoutMs: number): Promise<void>;
}

export type SpawnServer = (
  transport: StdioTransport,
  onStderr: (line: string) => void,
  signal: AbortSignal,
) => Promise<ServerProcess>;
