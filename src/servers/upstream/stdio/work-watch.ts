import type { ServerProcess } from "./server-process.ts";

/** Often enough for the shortest deadline that can be configured. */
const lookMs = 500;
/**
 * Limits per look. A process that only waits (timers, garbage collection) stays below them; one that installs or
 * computes is far above.
 */
const leastCpuMs = 20;
const leastIoBytes = 1_024;

/**
 * Calls `onWork` whenever the process or its descendants show signs of work: they used the processor, read or wrote,
 * or processes began or ended. Where the system shows none of that, it never calls, and only output counts. Returns
 * the function that stops it.
 */
export function watchWork(child: Pick<ServerProcess, "work">, onWork: () => void): () => void {
  let before = child.work();
  if (before === undefined) return () => undefined;
  const timer = setInterval(() => {
    const now = child.work();
    if (now === undefined) return;
    const isSame = before !== undefined && now.pids.join() === before.pids.join();
    const cpuMs = now.cpuMs - (before?.cpuMs ?? 0);
    const ioBytes = now.ioBytes - (before?.ioBytes ?? 0);
    before = now;
    if (!isSame || cpuMs >= leastCpuMs || ioBytes >= leastIoBytes) onWork();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
