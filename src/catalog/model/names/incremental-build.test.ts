import { expect, test } from "vitest";
import { madeInSteps } from "./names.ts";

test("what one began another may end, and it is made once", () => {
  let begun = 0;
  const list = madeInSteps(function* () {
    begun += 1;
    yield;
    yield;
    return [begun];
  });
  const steps = list.steps();
  steps.next();
  expect(list.isMade).toBe(false);
  expect(list.get()).toEqual([1]);
  expect(steps.next().done).toBe(true);
  expect([...list.steps()]).toEqual([]);
  expect(list.get()).toBe(list.get());
});

test("a step that throws says so to whoever took it, and the next one begins anew", () => {
  let isBroken = true;
  const list = madeInSteps(function* () {
    yield;
    if (isBroken) throw new Error("no room");
    return ["whole"];
  });
  expect(() => list.get()).toThrow("no room");
  expect(() => [...list.steps()]).toThrow("no room");
  isBroken = false;
  expect(list.get()).toEqual(["whole"]);
});
