import { expect, test } from "vitest";
import { createCallMinutes, keptMinutes, minuteMs } from "./call-minutes.ts";

const start = 1_000 * minuteMs;
const callOf = (atMs: number, given: object = {}) =>
  ({ atMs, principal: "ada", team: null, outcome: "ok", ...given }) as never;
const used = (minutes: ReturnType<ReturnType<typeof createCallMinutes>["read"]>) =>
  minutes.filter(({ calls }) => calls > 0);

test("calls and failures stand in the minute in which they ended, of the sixty up to now", () => {
  const minutes = createCallMinutes();
  minutes.add(callOf(start));
  minutes.add(callOf(start + minuteMs - 1, { outcome: "error" }));
  minutes.add(callOf(start + minuteMs));
  const found = minutes.read({}, start + minuteMs + 1);
  expect(found).toHaveLength(keptMinutes);
  expect(found.at(-1)).toEqual({ atMs: start + minuteMs, calls: 1, errors: 0 });
  expect(found.at(-2)).toEqual({ atMs: start, calls: 2, errors: 1 });
  expect(used(found)).toHaveLength(2);
});

test("a minute of an hour ago is forgotten, whether or not there was a call since", () => {
  const minutes = createCallMinutes();
  minutes.add(callOf(start));
  const anHour = start + keptMinutes * minuteMs;
  expect(used(minutes.read({}, anHour - 1))).toHaveLength(1);
  expect(used(minutes.read({}, anHour))).toEqual([]);
  minutes.add(callOf(anHour));
  expect(used(minutes.read({}, anHour))).toEqual([{ atMs: anHour, calls: 1, errors: 0 }]);
});

test("a clock that was put back by more than an hour takes nothing from the minutes that are there", () => {
  const minutes = createCallMinutes();
  minutes.add(callOf(start));
  minutes.add(callOf(start - keptMinutes * minuteMs));
  expect(used(minutes.read({}, start))).toEqual([{ atMs: start, calls: 1, errors: 0 }]);
});

test("a person's and a team's are theirs alone", () => {
  const minutes = createCallMinutes();
  minutes.add(callOf(start, { principal: "a", team: "red" }));
  minutes.add(callOf(start, { principal: "b", team: "red", outcome: "error" }));
  minutes.add(callOf(start, { principal: "c", team: "blue" }));
  const sumOf = (ask: object) => minutes.read(ask, start).at(-1);
  expect(sumOf({ principal: "b" })).toMatchObject({ calls: 1, errors: 1 });
  expect(sumOf({ team: "red" })).toMatchObject({ calls: 2, errors: 1 });
  expect(sumOf({ team: "red", principal: "c" })).toMatchObject({ calls: 0, errors: 0 });
  expect(sumOf({})).toMatchObject({ calls: 3, errors: 1 });
});

test("of more people than are told apart the sum of everybody is whole", () => {
  const minutes = createCallMinutes();
  for (let at = 0; at < 1_500; at += 1) minutes.add(callOf(start, { principal: `p${at}` }));
  expect(minutes.read({}, start).at(-1)?.calls).toBe(1_500);
  expect(minutes.read({ principal: "p1" }, start).at(-1)?.calls).toBe(1);
});
