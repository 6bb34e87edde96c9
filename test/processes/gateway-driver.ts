import { createGuardian } from "../../src/servers/process/guardian/guardian.ts";
import { spawnTree } from "../../src/servers/process/spawn-tree.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";

/**
 * As much of a gateway as owns processes: starts trees of the given shell script without end and says on stdout which
 * mark they carry. Somebody kills it with -9. Arguments: directory of records, number of trees that run at a time,
 * script.
 */
const [recordDirectory = "", width = "1", script = "exit 1"] = process.argv.slice(2);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const log = {
  debug() {},
  info() {},
  warn: (fields: object) => say(fields),
  error: (fields: object) => say(fields),
};
const guardian = createGuardian({ environment: process.env, recordDirectory, log });
const env = { PATH: process.env["PATH"] ?? "" };

async function keepOne(): Promise<void> {
  for (;;) {
    const tree = await spawnTree({ command: "/bin/sh", args: ["-c", script], env, cwd: "/" }, guardian);
    tree.stdout.resume();
    tree.stderr.resume();
    say({
      mark: guardian.gateway,
      guardian: guardian.pid,
      tree: tree.pid,
      atMs: systemClock.now(),
    });
    await tree.gone;
  }
}

await Promise.all(Array.from({ length: Number(width) }, keepOne));
