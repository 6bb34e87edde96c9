import { beforeEach, describe, expect, test } from "vitest";
import { wholeStopMs } from "../../app/owner/owner.ts";
import type { Settings } from "../../config/config.ts";
import { createManualClock, type ManualClock } from "../../../test/harness/manual-clock.ts";
import { whenUnused } from "./stopping.ts";

const afterMs = 10_000;

describe("a gateway that stops when it is unused", () => {
  let clock: ManualClock;
  let state: { isUsed: boolean; uses: number; runs: number };
  let end: AbortController;
  beforeEach(() => {
    clock = createManualClock();
    state = { isUsed: false, uses: 0, runs: 0 };
    end = new AbortController();
    const { isUsed, uses } = { isUsed: () => state.isUsed, uses: () => state.uses };
    whenUnused({ isUsed, uses, afterMs, clock, signal: end.signal }, () => void (state.runs += 1));
  });

  test("does so once, when nobody has come for that long", async () => {
    await clock.advance(afterMs - 1);
    expect(state.runs).toBe(0);
    await clock.advance(1);
    expect(state.runs).toBe(1);
    await clock.advance(10 * afterMs);
    expect(state.runs).toBe(1);
  });

  test("stays as long as somebody uses it, and the whole time after that", async () => {
    state.isUsed = true;
    await clock.advance(20 * afterMs);
    state.isUsed = false;
    await clock.advance(afterMs - 1);
    expect(state.runs).toBe(0);
    await clock.advance(1);
    expect(state.runs).toBe(1);
  });

  test("notices a use that began and ended between two looks", async () => {
    await clock.advance(afterMs - 2_000);
    state.uses += 1;
    await clock.advance(afterMs - 1_000);
    expect(state.runs).toBe(0);
    await clock.advance(afterMs);
    expect(state.runs).toBe(1);
  });

  test("does not stop twice when it is stopping already", async () => {
    await clock.advance(afterMs / 2);
    end.abort();
    await clock.advance(10 * afterMs);
    expect(state.runs).toBe(0);
  });
});

test("servers are waited for as long as the settings say, and no less than service managers allow", () => {
  const within = (noticeMs: number, drainTimeoutMs: number): number =>
    wholeStopMs({ noticeMs, instances: { drainTimeoutMs } } as Settings);
  expect(within(0, 25_000)).toBe(29_000);
  expect(within(0, 100)).toBe(29_000);
  expect(within(5_000, 25_000)).toBe(34_000);
  expect(within(60_000, 600_000)).toBe(664_000);
});
