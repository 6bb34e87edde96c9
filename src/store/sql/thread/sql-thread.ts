import { Worker } from "node:worker_threads";
import type { SqlReply, SqlRequest, SqlWorkerData } from "../sql-messages.ts";

/**
 * The worker thread that has the databases. It is never terminated, only asked to close: a native driver that is
 * stopped in the middle of a statement aborts the whole process.
 */
export interface SqlThread {
  post(request: SqlRequest): void;
  /** Whether the process stays for it. */
  hold(isHeld: boolean): void;
}

export interface SqlThreadOptions {
  /** The worker's entry file. */
  readonly workerFile: URL;
  readonly data: SqlWorkerData;
  /** Its heap, without the pages of SQLite. */
  readonly heapMb: number;
  readonly onReply: (reply: SqlReply) => void;
  /** It has ended, for a reason in words. Called once, and last. */
  readonly onEnded: (reason: string) => void;
}

export function startSqlThread({ workerFile, data, heapMb, onReply, onEnded }: SqlThreadOptions): SqlThread {
  const worker = new Worker(workerFile, {
    workerData: data,
    // Otherwise it would load whatever this process was told to load first, with --import for instance.
    execArgv: [],
    // It needs neither the gateway's secrets nor its streams: stdout may be an MCP connection.
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 },
  });
  worker.unref();
  // Node 22 warns of its own SQLite there.
  worker.stdout.resume();
  worker.stderr.resume();
  let reason = "it ended";
  worker.on("message", onReply);
  // An `error` is followed by `exit`; that is where it is dealt with.
  worker.on("error", (error) => (reason = error.message));
  worker.on("exit", () => onEnded(reason));
  return {
    post: (request) => worker.postMessage(request),
    hold(isHeld) {
      if (isHeld) worker.ref();
      else worker.unref();
    },
  };
}
