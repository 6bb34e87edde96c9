import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A limit on the processes of one sandbox that the kernel holds also for root, for whom no other does. */
export interface TaskLimit {
  /** Comes before a program and its arguments: a shell that puts itself under the limit, and becomes that program. */
  readonly words: readonly string[];
  /** Call when all of them have ended. Never rejects. */
  remove(): Promise<void>;
}

const prefix = "toolyard-";
const oldGroups = "/sys/fs/cgroup/pids";

/**
 * Makes a control group (`pids`) for one tree. Undefined where this process may not, as everywhere but as root; there
 * `RLIMIT_NPROC` counts.
 */
export async function createTaskLimit(name: string, tasks: number): Promise<TaskLimit | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const parent = await findPidsGroup();
  if (parent === undefined) return undefined;
  const group = join(parent, `${prefix}${name}`);
  try {
    await sweep(parent);
    await mkdir(group);
    await writeFile(join(group, "pids.max"), String(tasks));
  } catch {
    await rmdir(group).catch(() => undefined);
    return undefined;
  }
  // A program that moves itself by `tasks` is moved at once. Every other move waits until all processors have switched
  // tasks (5 to 20 ms); version 2 has no such file for processes.
  const file = join(group, parent.startsWith(oldGroups) ? "tasks" : "cgroup.procs");
  return {
    words: ["/bin/sh", "-c", 'echo 0 2>/dev/null >"$0"; exec "$@"', file],
    remove: async () => await rmdir(group).catch(() => undefined),
  };
}

/** Of groups that a killed gateway left behind, those without processes can be removed, and only those. */
async function sweep(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const left = await readFile(join(parent, name, "cgroup.procs"), "utf8").catch(() => "?");
      // A group that was made a moment ago has none either: it belongs to a gateway that still runs.
      const gateway = Number(/-(\d+)-/.exec(name)?.[1] ?? 0);
      if (left === "" && !isRunning(gateway)) await rmdir(join(parent, name)).catch(() => undefined);
    }),
  );
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function findPidsGroup(): Promise<string | undefined> {
  const own = await readFile("/proc/self/cgroup", "utf8").catch(() => "");
  const old = /^\d+:(?:[^:\n]*,)?pids(?:,[^:\n]*)?:(.*)$/m.exec(own)?.[1];
  if (old !== undefined) return join(oldGroups, old);
  const unified = /^0::(.*)$/m.exec(own)?.[1];
  return unified === undefined ? undefined : join("/sys/fs/cgroup", unified);
}
