import { expect, test } from "vitest";
import { createVariableNames, isVariableOfServers, toConstant } from "./variable-names.ts";

test("equal values share a variable, and others get the name of their server, then a number", () => {
  const nameOf = createVariableNames({ API_KEY: "set", EMPTY: "" });
  expect(nameOf("API_KEY", "set", "maps")).toBe("API_KEY");
  expect(nameOf("API_KEY", "other", "maps")).toBe("MAPS_API_KEY");
  expect(nameOf("API_KEY", "third", "maps")).toBe("MAPS_API_KEY_2");
  expect(nameOf("API_KEY", "other", "elsewhere")).toBe("ELSEWHERE_API_KEY");
  expect(nameOf("API_KEY", "other", "maps")).toBe("MAPS_API_KEY");
  expect(nameOf("EMPTY", "x", "maps")).toBe("EMPTY");
});

test("no name stands for an option of ours, whatever the server is called", () => {
  const nameOf = createVariableNames({});
  expect(nameOf("TOOLYARD_TOKEN", "a", "toolyard")).toBe("SERVER_TOOLYARD_TOKEN");
  expect(nameOf("TOOLYARD_TOKEN", "b", "toolyard")).toBe("SERVER_TOOLYARD_TOOLYARD_TOKEN");
  expect(nameOf("TOOLYARD_TOKEN", "c", "toolyard")).toBe("SERVER_TOOLYARD_TOOLYARD_TOKEN_2");
  expect(["TOOLYARD_KEY", "TOOLYARD_INPUT_X", "a.b-c", "", "1A", "A B"].map(isVariableOfServers)).toEqual([
    ...[false, true, true],
    ...[false, false, false],
  ]);
});

test.each([
  ["my-server", "MY_SERVER"],
  ["fileSystem", "FILE_SYSTEM"],
  ["9lives", "SERVER_9LIVES"],
  ["", "SERVER"],
])("%j is %s in capitals", (name, constant) => {
  expect(toConstant(name)).toBe(constant);
});
