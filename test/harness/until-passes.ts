import { vi } from "vitest";

/** Waits until the expectations hold. By itself, `vi.waitFor` waits for a second, which is little on a busy machine. */
export async function untilPasses<T>(expectations: () => T | Promise<T>): Promise<T> {
  return await vi.waitFor(expectations, { timeout: 60_000, interval: 20 });
}
