import { expect, test } from "vitest";
import { homeDirectories } from "./directories.ts";

test.each([
  ["linux", { HOME: "/h" }, { config: "/h/.config/toolyard", data: "/h/.local/share/toolyard" }],
  ["linux", { XDG_DATA_HOME: "/d", XDG_CONFIG_HOME: "/c" }, { config: "/c/toolyard", data: "/d/toolyard" }],
  [
    "linux",
    { HOME: "/h", XDG_DATA_HOME: "relative", XDG_CONFIG_HOME: "" },
    { config: "/h/.config/toolyard", data: "/h/.local/share/toolyard" },
  ],
  [
    "darwin",
    { HOME: "/Users/a" },
    {
      config: "/Users/a/Library/Application Support/toolyard",
      data: "/Users/a/Library/Application Support/toolyard",
    },
  ],
  [
    "win32",
    { USERPROFILE: "C:\\Users\\a" },
    {
      config: "C:\\Users\\a\\AppData\\Roaming\\toolyard",
      data: "C:\\Users\\a\\AppData\\Local\\toolyard",
    },
  ],
  ["win32", { APPDATA: "D:\\r", LOCALAPPDATA: "D:\\l" }, { config: "D:\\r\\toolyard", data: "D:\\l\\toolyard" }],
] as const)("%s with %j", (platform, env, expected) => {
  expect(homeDirectories(env, platform)).toEqual(expected);
});

test("a machine without HOME uses what the system knows, or says what is missing", () => {
  expect(homeDirectories({}, "linux", "/root").data).toBe("/root/.local/share/toolyard");
  expect(() => homeDirectories({}, "linux")).toThrow("HOME is not set");
});
