/** Waits for a condition: calls `probe` until it gives something, or fails with what it was waiting for. */
export async function until<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline)
      throw new Error(`still waiting after ${limitMs} ms for ${probe.toString().slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
