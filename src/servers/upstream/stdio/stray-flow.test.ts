import { until } from "../../../../test/harness/until.ts";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createStrayFlow } from "./stray-flow.ts";

test("who says too much is not read for a moment, and then again", async () => {
  const stdout = new PassThrough().resume();
  const flow = createStrayFlow(stdout);
  flow.note(500);
  expect(stdout.isPaused()).toBe(false);
  flow.note(1);
  expect(stdout.isPaused()).toBe(true);
  await until(() => !stdout.isPaused());
  flow.note(500);
  expect(stdout.isPaused()).toBe(false);
});

test("answers are no strays, whatever their number", () => {
  const stdout = new PassThrough().resume();
  const flow = createStrayFlow(stdout);
  for (let chunk = 0; chunk < 10_000; chunk += 1) flow.note(0);
  expect(stdout.isPaused()).toBe(false);
});

test("the first hundred oddities are told of", () => {
  const flow = createStrayFlow(new PassThrough());
  expect(Array.from({ length: 300 }, () => flow.mayTell()).filter(Boolean)).toHaveLength(100);
});
