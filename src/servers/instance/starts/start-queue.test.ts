import { expect, test } from "vitest";
import { settle } from "../../../../test/harness/manual-clock.ts";
import { createStartQueue } from "./start-queue.ts";

const never = new AbortController().signal;

test("never more at once than permitted, and owners take turns", async () => {
  const queue = createStartQueue(() => 2);
  const order: string[] = [];
  const releases: (() => void)[] = [];
  const ask = (owner: string, name: string) =>
    void queue.acquire(owner, never).then((release) => {
      order.push(name);
      releases.push(release);
    });
  for (const name of ["a1", "a2", "a3", "a4"]) ask("a", name);
  ask("b", "b1");
  ask("c", "c1");
  await settle();
  expect(order).toEqual(["a1", "a2"]);
  expect(queue.waiting).toBe(4);
  for (let round = 0; round < 4; round += 1) {
    releases[round]?.();
    releases[round]?.();
    await settle();
    expect(order).toHaveLength(3 + round);
  }
  expect(order).toEqual(["a1", "a2", "a3", "b1", "c1", "a4"]);
});

test("who gives up makes room, and a greater limit is used by the next", async () => {
  let permits = 1;
  const queue = createStartQueue(() => permits);
  const release = await queue.acquire("a", never);
  const controller = new AbortController();
  const impatient = queue.acquire("b", controller.signal);
  controller.abort(new Error("enough"));
  await expect(impatient).rejects.toThrow("enough");
  expect(queue.waiting).toBe(0);
  permits = 2;
  const second = await queue.acquire("c", never);
  release();
  second();
  await expect(queue.acquire("d", AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
});
