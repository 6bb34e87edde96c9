import type { SqlRequest, SqlReply, SqlWorkerData } from "../sql-messages.ts";
import { Worker } from "node:worker_threads";

/** The place of the worker thread: messages that are posted to it are kept until there is a thread in it. */
export interface WorkerSlot {
  readonly isTaken: boolean;
  /** Requests that wait for the next one. */
  readonly waiting: number;
  /** Gives what waited to the one that sits down now. */
  take(thread: SqlThread): void;
  post(request: SqlRequest): void;
  /** Tells the one that sits there to close, after what was posted before. What comes from now on waits. */
  dismiss(): void;
  /** The one that was in it has ended. */
  clear(): void;
  /** Forgets what waits. */
  forget(): void;
  /** Whether the process stays for it, no matter which thread it is. */
  hold(isHeld: boolean): void;
}

export function createWorkerSlot(): WorkerSlot {
  let waiting: SqlRequest[] = [];
  let isHeld = false;
  let isDismissed = false;
  let thread: SqlThread | undefined;
  return {
    get isTaken() {
      return thread !== undefined;
    },
    get waiting() {
      return waiting.length;
    },
    take(next) {
      thread = next;
      isDismissed = false;
      if (isHeld) next.hold(true);
      for (const request of waiting.splice(0)) next.post(request);
    },
    post(request) {
      if (thread === undefined || isDismissed) waiting.push(request);
      else thread.post(request);
    },
    dismiss() {
      if (isDismissed) return;
      isDismissed = true;
      thread?.post({ kind: "close" });
    },
    clear() {
      thread = undefined;
      isDismissed = false;
    },
    forget() {
      waiting = [];
    },
    hold(held) {
      isHeld = held;
      thread?.hold(held);
    },
  };
}

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
