import type { ServerProcess } from "./server-process.ts";

/** Often enough for the shortest deadline that may be configured. */
const lookMs = 500;
/**
 * Per look. What a process does that only waits (timers, its own garbage) stays below; what installs or computes is
 * far above.
 */
const leastCpuMs = 20;
const leastIoBytes = 1_024;

/**
 * Calls back whenever the process or its descendants are seen to work: they used the processor, read or wrote, or
 * began and ended. Where the system shows none of that, only output tells. Returns the function that ends it.
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
