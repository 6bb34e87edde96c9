import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { abortAfter, createAbortPool, offAbort, onAbort, sleep, untilAborted } from "./abort.ts";

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("a deadline fires even when nobody but its listener knows it and garbage is collected", async () => {
  const fired = new Promise<unknown>((resolve) => {
    const signal = abortAfter(30, new AbortController().signal);
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
  collectGarbage();
  // The timer of a deadline does not keep a process alive; this one does.
  const alive = setInterval(collectGarbage, 5);
  await expect(fired).resolves.toMatchObject({ name: "TimeoutError" });
  clearInterval(alive);
});

test("the first of several signals counts, with its reason; one that has aborted already counts at once", () => {
  const first = new AbortController();
  const signal = abortAfter(60_000, new AbortController().signal, first.signal);
  expect(signal.aborted).toBe(false);
  first.abort(new Error("the client went away"));
  expect(signal.reason).toMatchObject({ message: "the client went away" });
  expect(abortAfter(60_000, first.signal).reason).toMatchObject({ message: "the client went away" });
});

test("a wait ends with its signal, and the late failure of what was waited for is nobody's", async () => {
  const controller = new AbortController();
  let reject: (error: Error) => void = () => undefined;
  const work = new Promise<never>((_resolve, fail) => (reject = fail));
  const waiting = untilAborted(work, controller.signal);
  controller.abort("enough");
  await expect(waiting).rejects.toThrow("aborted: enough");
  reject(new Error("too late"));
  await expect(sleep(60_000, controller.signal)).rejects.toThrow("enough");
  await expect(untilAborted(Promise.resolve(1), controller.signal)).rejects.toThrow("enough");
});

function listenerNamed(name: string, told: string[]): { handleEvent(): void } {
  return { handleEvent: () => void told.push(name) };
}

test.each([
  ["a controller of a pool", () => createAbortPool(1).take()],
  ["any other controller", () => new AbortController()],
])("every listener on %s is told of its abort once, and none that was removed", (_name, make) => {
  const controller = make();
  const told: string[] = [];
  const [first, second, third] = ["first", "second", "third"].map((name) => listenerNamed(name, told));
  if (first === undefined || second === undefined || third === undefined) throw new Error("three were made");
  onAbort(controller.signal, first);
  onAbort(controller.signal, second);
  onAbort(controller.signal, third);
  offAbort(controller.signal, first);
  offAbort(controller.signal, third);
  onAbort(controller.signal, first);
  controller.abort();
  controller.abort();
  expect(told.toSorted()).toEqual(["first", "second"]);
});

test("a controller that comes back to its pool has no listeners of its last work, and can be aborted in the next", () => {
  const pool = createAbortPool(1);
  const told: string[] = [];
  const used = pool.take();
  onAbort(used.signal, listenerNamed("forgotten", told));
  pool.give(used);
  const again = pool.take();
  expect(again).toBe(used);
  onAbort(again.signal, listenerNamed("new", told));
  again.abort();
  expect(told).toEqual(["new"]);
  pool.give(again);
  expect(pool.take()).not.toBe(again);
});
