import { expect, test } from "vitest";
import { createUnansweredCount } from "./stdio-client.ts";

test("where no request waits, whoever asks is told at once", () => {
  const calls: string[] = [];
  createUnansweredCount().whenNone(() => calls.push("none"));
  expect(calls).toEqual(["none"]);
});

test("otherwise after the last answer, and again when requests came and went since", () => {
  const count = createUnansweredCount();
  const calls: string[] = [];
  count.enter();
  count.enter();
  count.whenNone(() => calls.push("none"));
  count.leave();
  expect(calls).toEqual([]);
  count.leave();
  expect(calls).toEqual(["none"]);
  count.enter();
  count.leave();
  expect(calls).toEqual(["none", "none"]);
});

test("before somebody asks, nobody is told", () => {
  const count = createUnansweredCount();
  count.enter();
  expect(() => count.leave()).not.toThrow();
});
