import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withFileLock } from "../../../src/store/files/safe/exclusive-file.ts";
import { claimGatewayLock } from "../../../src/store/files/safe/gateway-lock.ts";
import { replaceFile } from "../../../src/store/files/safe/replace-file.ts";
import { readStartTime } from "../../../src/servers/process/process-table.ts";

/**
 * Takes a lock again and again, and always leaves it stale, as a process does that died. Prints `held` each time, and
 * `two` when another process that lives held it as well.
 */
const [kind, folder = ""] = process.argv.slice(2);
const inside = join(folder, "inside");
const never = new AbortController().signal;

/** What only one process at a time may do. */
async function enter(lock: string, stale: string): Promise<void> {
  const before = markerOf();
  if (before !== undefined && isRunning(before)) process.stdout.write("two\n");
  writeFileSync(inside, `${process.pid}`);
  // Time for another that holds it too to come in.
  await new Promise((next) => setTimeout(next, 1));
  if (markerOf() !== process.pid) process.stdout.write("two\n");
  unlinkSync(inside);
  process.stdout.write("held\n");
  await replaceFile(lock, stale);
}

function markerOf(): number | undefined {
  try {
    return Number(readFileSync(inside, "utf8"));
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  return readStartTime(pid) !== undefined;
}

/** No process has this number: it is beyond the largest that Linux gives. */
const nobody = 4_194_305;

for (let round = 0; ; round += 1) {
  const mark = `${process.pid}-${round}`;
  if (kind === "file") {
    const lock = join(folder, "claim.lock");
    await withFileLock(lock, never, async () => await enter(lock, `${nobody} ${mark}`));
    continue;
  }
  const serves = { configFile: "/c.json", directory: "/", variables: {} };
  const claim = await claimGatewayLock({ folder, serves, version: "1", startTimeOf: readStartTime });
  if (claim.kind === "held")
    await enter(join(folder, "gateway.lock"), JSON.stringify({ pid: nobody, startTime: "1", secret: mark }));
}
