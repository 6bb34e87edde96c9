import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { createIdleWatch, type IdleWatchOptions } from "./idle-watch.ts";

const idleMs = 40;
const againMs = 5;

function watching(on: Partial<Pick<IdleWatchOptions, "onRest" | "onIdle">>) {
  const clock = createManualClock();
  const told: string[] = [];
  const watch = createIdleWatch({
    clock,
    idleMs,
    againMs,
    onRest: () => {
      told.push("rest");
      on.onRest?.();
    },
    onIdle: () => {
      told.push("idle");
      return on.onIdle?.() ?? true;
    },
  });
  return { clock, told, watch };
}

test("a rest is told once, and then asked about until it can be spared", async () => {
  let mayGo = false;
  const { clock, told, watch } = watching({ onIdle: () => mayGo });
  watch.touch();
  await clock.advance(idleMs + 2 * againMs);
  expect(told).toEqual(["rest", "idle", "idle", "idle"]);
  mayGo = true;
  await clock.advance(10 * idleMs);
  expect(told).toEqual(["rest", "idle", "idle", "idle", "idle"]);
  expect(clock.waiting).toBe(0);
});

test("what is used because of a rest is watched again from then on, by one timer", async () => {
  let isUsing = true;
  const { clock, told, watch } = watching({ onRest: () => isUsing && watch.touch() });
  watch.touch();
  await clock.advance(idleMs);
  expect(told).toEqual(["rest"]);
  expect(clock.waiting).toBe(1);
  isUsing = false;
  await clock.advance(idleMs);
  expect(told).toEqual(["rest", "rest", "idle"]);
  watch.touch();
  watch.stop();
  expect(clock.waiting).toBe(0);
});
