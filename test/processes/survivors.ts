import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/**
 * Living processes whose environment or command line holds `text`, read without any code of the gateway. Zombies do
 * not live.
 */
export function findSurvivors(text: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => (read(pid, "cmdline").includes(text) || read(pid, "environ").includes(text)) && isAlive(pid))
    .map((pid) => `${pid} ${read(pid, "cmdline").replaceAll("\0", " ").slice(0, 100)}`);
}

export function isAlive(pid: number | string): boolean {
  const [state = ""] = readStat(pid);
  return state !== "" && state !== "Z" && state !== "X";
}

export function parentOf(pid: number): number {
  return Number(readStat(pid)[1]);
}

/** proc(5), /proc/pid/stat from the state on. */
function readStat(pid: number | string): readonly string[] {
  const stat = read(String(pid), "stat");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Waits until `condition` holds; the test's own timeout is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(10);
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
