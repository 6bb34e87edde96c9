import { expect, test } from "vitest";
import { settingNow } from "./number-text.ts";

test.each([
  ["limits.requestBodyBytes", 4 * 1024 ** 2, "4 MiB"],
  ["limits.requestBodyBytes", 5_120, "5 KiB"],
  ["limits.requestBodyBytes", 5_000, "5000 bytes"],
  ["callTimeoutMs", 7_200_000, "2 h"],
  ["callTimeoutMs", 300_000, "5 min"],
  ["callTimeoutMs", 90_500, "90.5 s"],
  ["limits.sessions", 10_000, "10,000"],
])("%s of %i is told as %s", (name, value, text) => {
  expect(settingNow(name, value)).toBe(`${name}, now ${text}`);
});
