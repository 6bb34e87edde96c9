import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** A program under measurement that prints `listening on URL`. */
export interface Measured {
  readonly url: string;
  readonly pid: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a Node program and waits for its address. */
export async function startMeasured(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Measured> {
  const child = spawn(process.execPath, [...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      const found = /listening on (\S+)/.exec(stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error(`${args.join(" ")} ended:\n${stderr}`)));
  });
  return {
    url,
    pid: child.pid as number,
    process: child,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** CPU time of all threads of a process so far, in microseconds (Linux: /proc, nanosecond counters). */
export function cpuMicros(pid: number): number {
  let nanos = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanos += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ", 1)[0]);
    } catch {
      // A thread that has just ended.
    }
  }
  return nanos / 1_000;
}

/** CPU time of the thread that serves so far, in microseconds. */
export function mainThreadMicros(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ", 1)[0]) / 1_000;
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, "VmRSS");
}

/** The most that a process ever had resident, in bytes. */
export function peakBytes(pid: number): number {
  return statusBytes(pid, "VmHWM");
}

function statusBytes(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? 0) * 1_024;
}
