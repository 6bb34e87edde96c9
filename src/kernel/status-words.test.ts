import { expect, test } from "vitest";
import { statusWord } from "./status-words.ts";

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
