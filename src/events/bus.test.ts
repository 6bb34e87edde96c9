import { expect, test } from "vitest";
import { createEventBus } from "./bus.ts";
import type { GatewayEvent } from "./event.ts";

const event: GatewayEvent = { type: "gateway.stopping", atMs: 1, reason: "test" };

test("every sink gets every event in order; one that throws is reported and hurts no other", () => {
  const failures: unknown[] = [];
  const seen: string[] = [];
  const bus = createEventBus((error) => failures.push(error));
  bus.subscribe(() => seen.push("first"));
  bus.subscribe(() => {
    throw new Error("broken sink");
  });
  const leave = bus.subscribe(() => seen.push("third"));
  bus.emit(event);
  leave();
  leave();
  bus.emit(event);
  expect(seen).toEqual(["first", "third", "first"]);
  expect(failures).toHaveLength(2);
});

test("a sink that leaves while an event is handed out disturbs nobody", () => {
  const seen: string[] = [];
  const bus = createEventBus(() => undefined);
  const leave = bus.subscribe(() => leave());
  bus.subscribe(() => seen.push("second"));
  bus.emit(event);
  expect(seen).toEqual(["second"]);
});
