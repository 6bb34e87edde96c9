import { expect, test } from "vitest";
import { createEventBus } from "./event-bus.ts";
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

test("a sink for some types gets those alone, in its place among the others", () => {
  const seen: string[] = [];
  const bus = createEventBus(() => undefined);
  bus.subscribe(({ type }) => seen.push(`all ${type}`));
  const leave = bus.on(["gateway.stopping"], ({ reason }) => seen.push(`stopping ${reason}`));
  bus.subscribe(() => seen.push("last"));
  bus.emit(event);
  bus.emit({ type: "gateway.listening", atMs: 1, address: "here" });
  leave();
  bus.emit(event);
  expect(seen).toEqual([
    ...["all gateway.stopping", "stopping test", "last"],
    ...["all gateway.listening", "last"],
    ...["all gateway.stopping", "last"],
  ]);
});
