import { expect, test } from "vitest";
import { statusWord, withReason } from "./status-words.ts";

test("a server that is off is called by what made it so, where that is known", () => {
  const off = { status: "disabled", dormant: false } as const;
  expect(["enable", "correct", "start", undefined].map((step) => statusWord({ ...off, step }))).toEqual([
    "off",
    "wrong entry",
    "stopped",
    "off",
  ]);
});

test("one that a call starts is asleep, and the others have the word of their status", () => {
  expect(statusWord({ status: "online", dormant: true, step: "start" })).toBe("asleep");
  expect(statusWord({ status: "requires_reauth", dormant: false, step: "log-in" })).toBe("needs login");
});

test("a reason that begins with the word of the status does not say it twice", () => {
  expect(withReason("cannot start", "Cannot start it: no such command")).toBe("Cannot start it: no such command");
  expect(withReason("given up", "it exited with code 1")).toBe("given up: it exited with code 1");
});
