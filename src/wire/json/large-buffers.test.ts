import { expect, test } from "vitest";
import { createLargeBuffers, largeBytes } from "./large-buffers.ts";

test("what was adopted is empty once it has been written, and nothing else is", () => {
  const memory = createLargeBuffers();
  const own = Buffer.allocUnsafeSlow(largeBytes);
  const other = Buffer.allocUnsafeSlow(largeBytes);
  memory.adopt(own);
  memory.written(["before", own.subarray(10, 20), own.subarray(30), other, "after"]);
  expect([own.length, own.buffer.byteLength, other.length]).toEqual([0, 0, largeBytes]);
  // Once only: it may have become somebody else's since.
  memory.written([own]);
});

test("memory that is shared with other buffers is never freed", () => {
  const memory = createLargeBuffers();
  const whole = Buffer.allocUnsafeSlow(1_000);
  const pooled = Buffer.from("small");
  memory.free([whole.subarray(0, 999), pooled, Buffer.alloc(0)]);
  expect([whole.length, pooled.toString()]).toEqual([1_000, "small"]);
  memory.free([whole]);
  expect(whole.length).toBe(0);
});

test("what is freed is not counted any more", async () => {
  const memory = createLargeBuffers();
  memory.free([Buffer.allocUnsafeSlow(1_000)]);
  // The port that takes it closes in the next turn of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 50; round += 1) memory.free([Buffer.allocUnsafeSlow(10_000_000)]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
});
