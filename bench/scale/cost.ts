import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface Cost {
  /** Of the whole process, per round. */
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Does something so many times, one after the other. */
export async function costOf(rounds: number, run: (round: number) => Promise<void>): Promise<Cost> {
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await run(round);
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return { cpuUs: (user + system) / rounds, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** Heap and typed arrays in use, after a collection. */
export function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // What hangs on something that has just been collected goes with the next collection.
  for (let round = 0; round < 2; round += 1) collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

export interface Lag {
  readonly worstLagMs: number;
  readonly p99LagMs: number;
  readonly worstTurnCpuMs: number;
}

/** How long something that is due at once has waited, again and again, while `work` was done. */
export async function lagWhile(work: () => Promise<void>): Promise<Lag> {
  const lags: number[] = [];
  let worstTurnCpuMs = 0;
  let last = performance.now();
  let cpu = process.cpuUsage();
  let isOver = false;
  const look = (): void => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    lags.push(now - last);
    worstTurnCpuMs = Math.max(worstTurnCpuMs, (user + system) / 1_000);
    last = now;
    cpu = process.cpuUsage();
    if (!isOver) setTimeout(look, 0);
  };
  look();
  await work();
  isOver = true;
  look();
  lags.sort((a, b) => a - b);
  return { worstLagMs: lags.at(-1) ?? 0, p99LagMs: lags[Math.floor(lags.length * 0.99)] ?? 0, worstTurnCpuMs };
}
