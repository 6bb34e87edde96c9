/** A machine that stands still for a minute has given what is waited for no time either. */
const longestRoundMs = 2_000;

/** Waits for a condition: calls `probe` until it gives something, or fails with what it was waiting for. */
export async function until<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 120_000,
): Promise<T> {
  let waitedMs = 0;
  for (let last = performance.now(); ;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (waitedMs > limitMs) throw new Error(`still waiting after ${limitMs} ms for ${probe.toString().slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = performance.now();
    waitedMs += Math.min(now - last, longestRoundMs);
    last = now;
  }
}
