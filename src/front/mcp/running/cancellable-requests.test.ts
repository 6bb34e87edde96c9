import { expect, test } from "vitest";
import { createCancellableRequests } from "./cancellable-requests.ts";

const cancelled = (message: string) => expect.objectContaining({ code: "CALL_CANCELLED", message });

test("a cancellation ends the request that it names, and says what the client gave as its reason", () => {
  const requests = createCancellableRequests();
  const [one, two] = [new AbortController(), new AbortController()];
  requests.add(1, one);
  requests.add("1", two);
  requests.cancel({ requestId: "1", reason: "too slow" });
  expect(one.signal.aborted).toBe(false);
  expect(two.signal.reason).toEqual(cancelled("the client cancelled the request: too slow"));
  requests.cancel({ requestId: 1 });
  expect(one.signal.reason).toEqual(cancelled("the client cancelled the request"));
});

test("of a long reason the beginning is passed on", () => {
  const requests = createCancellableRequests();
  const controller = new AbortController();
  requests.add(1, controller);
  requests.cancel({ requestId: 1, reason: "x".repeat(10_000) });
  expect((controller.signal.reason as Error).message).toBe(`the client cancelled the request: ${"x".repeat(200)}`);
});

test("requests that share an id are cancelled together, and end one by one", () => {
  const requests = createCancellableRequests();
  const controllers = [new AbortController(), new AbortController(), new AbortController()] as const;
  for (const controller of controllers) requests.add("a", controller);
  expect(requests.size).toBe(1);
  requests.delete("a", controllers[1]);
  requests.cancel({ requestId: "a" });
  expect(controllers.map(({ signal }) => signal.aborted)).toEqual([true, false, true]);
  requests.delete("a", controllers[0]);
  expect(requests.size).toBe(1);
  requests.delete("a", controllers[2]);
  expect(requests.size).toBe(0);
});

test("a request that has ended leaves a later one with its id alone", () => {
  const requests = createCancellableRequests();
  const [before, after] = [new AbortController(), new AbortController()];
  requests.add("a", before);
  requests.delete("a", before);
  requests.add("a", after);
  requests.delete("a", before);
  requests.cancel({ requestId: "a" });
  expect([before.signal.aborted, after.signal.aborted]).toEqual([false, true]);
});

test.each([[{}], [{ requestId: null }], [{ requestId: "unknown" }], [{ requestId: ["a"] }]])(
  "%j cancels nothing",
  (params) => {
    const requests = createCancellableRequests();
    const controller = new AbortController();
    requests.add("a", controller);
    requests.cancel(params);
    expect(controller.signal.aborted).toBe(false);
  },
);

test("all are cancelled at once, those of one id too", () => {
  const requests = createCancellableRequests();
  const controllers = ["a", "a", "b"].map((id) => {
    const controller = new AbortController();
    requests.add(id, controller);
    return controller;
  });
  requests.cancelAll("the session has ended");
  for (const { signal } of controllers) expect(signal.reason).toEqual(cancelled("the session has ended"));
});
