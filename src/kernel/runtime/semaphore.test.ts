import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

const never = new AbortController().signal;

test("as many hold it as there are permits; the others follow in order", async () => {
  const semaphore = createSemaphore(2);
  const releases = [await semaphore.acquire(never), await semaphore.acquire(never)];
  const order: number[] = [];
  const waiting = [3, 4].map(async (number) => {
    const release = await semaphore.acquire(never);
    order.push(number);
    return release;
  });
  expect(semaphore.waiting).toBe(2);
  releases[0]?.();
  // Releasing twice gives nobody a second permit.
  releases[0]?.();
  (await waiting[0])?.();
  (await waiting[1])?.();
  expect(order).toEqual([3, 4]);
  expect(semaphore.waiting).toBe(0);
});

test("who gives up leaves the queue, and takes no permit along", async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.acquire(never);
  const controller = new AbortController();
  const impatient = semaphore.acquire(controller.signal);
  const patient = semaphore.acquire(never);
  controller.abort(new Error("enough"));
  await expect(impatient).rejects.toThrow("enough");
  await expect(semaphore.acquire(controller.signal)).rejects.toThrow("enough");
  release();
  await expect(patient).resolves.toBeTypeOf("function");
});
