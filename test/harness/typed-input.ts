import type { Writable } from "node:stream";

/** What a process gives whoever writes to it after it has ended, until its end is known here. */
const ended: ReadonlySet<string | undefined> = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"]);

/**
 * The input of a process that may end at any time: what is written to it then is lost, as it is for a person who types
 * on. Without a listener, the error would end the run of the tests.
 */
export function toTypedInput(stdin: Writable): Writable {
  return stdin.on("error", (error: NodeJS.ErrnoException) => {
    if (!ended.has(error.code)) throw error;
  });
}
