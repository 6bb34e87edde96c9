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
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The longest that something due at once has waited while `work` was done. */
export async function worstLagMs(work: () => Promise<void>): Promise<number> {
  let worst = 0;
  let last = performance.now();
  let isOver = false;
  const look = (): void => {
    const now = performance.now();
    worst = Math.max(worst, now - last);
    last = now;
    if (!isOver) setTimeout(look, 0);
  };
  look();
  await work();
  isOver = true;
  look();
  return worst;
}
