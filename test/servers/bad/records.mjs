// Files that tests read to see what happened inside. Written synchronously: the process may be about to die.

import { appendFileSync } from "node:fs";

/** Appends `PID what` to the file of --write-pid. */
export function notePid(options, pid, what) {
  if (options["write-pid"] !== undefined) appendFileSync(options["write-pid"], `${pid} ${what}\n`);
}

/** Appends one JSON line to the file of --record. */
export function record(options, entry) {
  if (options.record === undefined) return;
  appendFileSync(options.record, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);
}
