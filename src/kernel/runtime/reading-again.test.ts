import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { createReadingAgain } from "./reading-again.ts";

/** Readings that wait until a test ends them. */
function world() {
  const clock = createManualClock();
  const waiting: { succeed: () => void; fail: () => void }[] = [];
  const failed: unknown[] = [];
  let begun = 0;
  const reading = createReadingAgain({
    clock,
    read: async () => {
      begun += 1;
      await new Promise<void>((resolve, reject) =>
        waiting.push({ succeed: resolve, fail: () => reject(new Error("x")) }),
      );
    },
    onFailed: (error) => failed.push(error),
  });
  const settle = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));
  return {
    clock,
    reading,
    failed,
    begun: () => begun,
    async succeed() {
      waiting.shift()?.succeed();
      await settle();
    },
    async fail() {
      waiting.shift()?.fail();
      await settle();
    },
    async pass(ms: number) {
      await clock.advance(ms);
      await settle();
    },
  };
}

test("what is asked for while it is read is read once more, however often it was asked for", async () => {
  const { reading, begun, succeed } = world();
  reading.ask();
  reading.ask();
  reading.ask();
  expect(begun()).toBe(1);
  await succeed();
  expect(begun()).toBe(2);
  await succeed();
  expect(begun()).toBe(2);
  reading.ask();
  expect(begun()).toBe(3);
});

test("what fails is read again after pauses that double, until it succeeds", async () => {
  const { reading, begun, fail, succeed, pass, failed } = world();
  reading.ask();
  await fail();
  await pass(249);
  expect(begun()).toBe(1);
  await pass(1);
  expect(begun()).toBe(2);
  await fail();
  await pass(499);
  expect(begun()).toBe(2);
  await pass(1);
  expect(begun()).toBe(3);
  expect(failed).toHaveLength(2);
  await succeed();
  await pass(60_000);
  expect(begun()).toBe(3);
});

test("whoever asks during a pause does not wait for its end, and nothing is read twice for it", async () => {
  const { reading, begun, fail, succeed, pass } = world();
  reading.ask();
  await fail();
  reading.ask();
  expect(begun()).toBe(2);
  await succeed();
  await pass(60_000);
  expect(begun()).toBe(2);
});

test("after the end nothing is read, and no failure told", async () => {
  const { reading, begun, fail, pass, failed } = world();
  reading.ask();
  reading.stop();
  await fail();
  await pass(60_000);
  reading.ask();
  expect([begun(), failed]).toEqual([1, []]);
});
