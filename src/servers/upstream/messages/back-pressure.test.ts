import { until } from "../../../../test/harness/until.ts";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { createBackPressure, type BackPressure, type StraySource } from "./back-pressure.ts";

function bring(flow: BackPressure, source: StraySource, count: number): void {
  flow.add(count);
  flow.restrain(source);
}

test("who says too much is not read for a moment, and then again", async () => {
  const stdout = new PassThrough().resume();
  const flow = createBackPressure();
  bring(flow, stdout, 500);
  expect(stdout.isPaused()).toBe(false);
  bring(flow, stdout, 1);
  expect(stdout.isPaused()).toBe(true);
  await until(() => !stdout.isPaused());
  bring(flow, stdout, 500);
  expect(stdout.isPaused()).toBe(false);
});

test("what brings answers alone is read on, however many there are", () => {
  const stdout = new PassThrough().resume();
  const flow = createBackPressure();
  for (let chunk = 0; chunk < 10_000; chunk += 1) bring(flow, stdout, 0);
  expect(stdout.isPaused()).toBe(false);
});

test("many streams share the limit: each in its turn, and no more of them at once than it allows", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate"] });
  onTestFinished(() => void vi.useRealTimers());
  const flow = createBackPressure();
  const turns: string[] = [];
  // Each brings as much whenever it is read.
  const sourceOf = (name: string, each: number): StraySource => ({
    pause: () => undefined,
    resume() {
      turns.push(name);
      bring(flow, this, each);
    },
  });
  const loud = sourceOf("loud", 501);
  for (const source of [loud, sourceOf("quiet", 0), sourceOf("silent", 0), sourceOf("loud too", 501)])
    bring(flow, source, 501);
  vi.advanceTimersByTime(99);
  expect(turns).toEqual([]);
  for (const expected of [["loud"], ["quiet", "silent", "loud too"], ["loud"], ["loud too"]]) {
    vi.advanceTimersByTime(100);
    expect(turns.splice(0)).toEqual(expected);
  }
  flow.forget(loud);
  vi.advanceTimersByTime(300);
  expect(turns).toEqual(["loud too", "loud too", "loud too"]);
});

test("a stream that has ended is not read on", async () => {
  const flow = createBackPressure();
  const resumed: string[] = [];
  const sources = ["ended", "open"].map((name) => ({ pause: () => undefined, resume: () => void resumed.push(name) }));
  for (const source of sources) bring(flow, source, 501);
  flow.forget(sources[0] as StraySource);
  await until(() => resumed.length > 0);
  expect(resumed).toEqual(["open"]);
});

test("the first hundred oddities are told of", () => {
  const flow = createBackPressure();
  expect(Array.from({ length: 300 }, () => flow.mayTell()).filter(Boolean)).toHaveLength(100);
});
