import { expect, test } from "vitest";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createWaiters } from "./waiters.ts";

const never = new AbortController().signal;

test("all that wait get the one value, and nobody is left", async () => {
  const waiters = createWaiters<number>();
  const all = [waiters.wait(never), waiters.wait(never)];
  waiters.resolveAll(7);
  expect(await Promise.all(all)).toEqual([7, 7]);
  expect(waiters.size).toBe(0);
});

test("each gets an error of its own", async () => {
  const waiters = createWaiters<number>();
  const all = [waiters.wait(never), waiters.wait(never)].map(async (one) => await one.catch((error: unknown) => error));
  waiters.rejectAll(() => new GatewayError("SERVER_OFFLINE", "gone"));
  const [first, second] = await Promise.all(all);
  expect(first).toMatchObject({ code: "SERVER_OFFLINE" });
  expect(first).not.toBe(second);
});

test("who gives up leaves the others waiting", async () => {
  const waiters = createWaiters<number>();
  const controller = new AbortController();
  const impatient = waiters.wait(controller.signal);
  const patient = waiters.wait(never);
  controller.abort(new Error("enough"));
  await expect(impatient).rejects.toThrow("enough");
  expect(waiters.size).toBe(1);
  waiters.resolveAll(1);
  expect(await patient).toBe(1);
  await expect(waiters.wait(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
});
