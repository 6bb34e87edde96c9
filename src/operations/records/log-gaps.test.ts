import { expect, test } from "vitest";
import { createEventBus } from "../../kernel/events/event-bus.ts";
import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import { floodMark } from "../../records/calls/server-lines.ts";
import { countLostLines } from "./log-gaps.ts";

function counting() {
  const events = createEventBus((error) => {
    throw error;
  });
  const lost = countLostLines(events, ({ server }) => server === "one");
  const write = (lines: number, server = "one"): void => {
    for (let at = 0; at < lines; at += 1)
      events.emit({
        type: "mcp.server.logs",
        atMs: Date.now(),
        instance: server as InstanceId,
        server: server as ServerSlug,
        installation: server as InstanceId,
        principal: undefined,
        team: undefined,
        level: "stderr",
        line: "x",
      });
  };
  const look = (found: number, more: readonly { atMs: number; line: string }[] = []): number => {
    lost.begin();
    return lost.end([...Array.from({ length: found }, () => ({ atMs: Date.now(), line: "x" })), ...more]);
  };
  return { lost, write, look };
}

test("lines that are found are not lost, nor are those of others and of the time before", () => {
  const { lost, write, look } = counting();
  write(3);
  write(50, "two");
  expect(look(3, [{ atMs: 1, line: "before" }])).toBe(0);
  expect(lost.isUnsure).toBe(false);
  expect(look(0)).toBe(0);
});

test("lines are lost when two looks have not found them, and are told once", () => {
  const { lost, write, look } = counting();
  write(500);
  expect(look(100)).toBe(0);
  expect(lost.isUnsure).toBe(true);
  expect(look(0)).toBe(400);
  expect(lost.isUnsure).toBe(false);
  expect(look(0)).toBe(0);
  write(10);
  look(4);
  expect(look(0)).toBe(6);
});

test("lines that a slow disk writes late are not lost", () => {
  const { lost, write, look } = counting();
  write(20);
  expect(look(0)).toBe(0);
  expect(look(20)).toBe(0);
  expect(lost.isUnsure).toBe(false);
  write(20);
  look(5);
  expect(look(10)).toBe(5);
});

test("the line that stands for a flood is none that was written", () => {
  const { write, look } = counting();
  write(80);
  look(50, [{ atMs: Date.now() + 1_000, line: floodMark }]);
  expect(look(0)).toBe(30);
});

test("a reader that has left is not counted for", () => {
  const { lost, write, look } = counting();
  lost[Symbol.dispose]();
  write(10);
  look(0);
  expect(look(0)).toBe(0);
});
