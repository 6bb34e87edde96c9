import { expect, test } from "vitest";
import { parseListenFilter } from "./listen.ts";

const nothing = { tools: false, prompts: false, resourcesList: false, resources: [] };

test("what is asked for is wanted, and nothing else", () => {
  expect(parseListenFilter({})).toEqual(nothing);
  expect(parseListenFilter({ toolsListChanged: true, promptsListChanged: false })).toEqual({ ...nothing, tools: true });
  expect(parseListenFilter({ promptsListChanged: true, resourcesListChanged: true, unknown: true })).toEqual({
    ...nothing,
    prompts: true,
    resourcesList: true,
  });
});

test("only true means yes", () => {
  expect(parseListenFilter({ toolsListChanged: "true", promptsListChanged: 1 })).toEqual(nothing);
});

test("each resource counts once", () => {
  expect(parseListenFilter({ resourceSubscriptions: ["b", "a", "b"] }).resources).toEqual(["b", "a"]);
});

test.each([
  ["no filter", undefined, "subscriptions/listen needs params.notifications, an object"],
  ["a list", [], "subscriptions/listen needs params.notifications, an object"],
  ["resources that are no list", { resourceSubscriptions: "a" }, "resourceSubscriptions must be an array of strings"],
  ["a resource that is no text", { resourceSubscriptions: [1] }, "resourceSubscriptions must be an array of strings"],
  [
    "too many resources",
    { resourceSubscriptions: Array.from({ length: 1_001 }, String) },
    "resourceSubscriptions holds more than 1000 resources",
  ],
])("%s is refused", (_what, filter, message) => {
  expect(() => parseListenFilter(filter)).toThrow(expect.objectContaining({ code: "PARAMS_INVALID", message }));
});
