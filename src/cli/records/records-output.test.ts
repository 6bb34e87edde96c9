import { describe, expect, test } from "vitest";
import type { CommandContext } from "../command/command-context.ts";
import { readRecordOptions } from "./records-output.ts";

const context = (flags: CommandContext["flags"], env: CommandContext["env"] = {}): CommandContext => ({
  flags,
  positionals: [],
  isBare: false,
  env,
  cwd: "/",
  home: "/h",
  homeDirectories: { config: "/c", data: "/d", cache: "/e" } as unknown as CommandContext["homeDirectories"],
  version: "0",
});

describe("how many rows a command shows", () => {
  test("is its standard, or a few where it goes on with what comes", () => {
    expect(readRecordOptions(context({}), 50)).toMatchObject({ limit: 50, follow: false });
    expect(readRecordOptions(context({ follow: true }), 50)).toMatchObject({ limit: 10, follow: true });
  });

  test("is what was asked for, also with --follow, and by a variable", () => {
    expect(readRecordOptions(context({ limit: "10000" }), 50).limit).toBe(10_000);
    expect(readRecordOptions(context({ follow: true, limit: "0" }), 50).limit).toBe(0);
    expect(readRecordOptions(context({}, { TOOLYARD_LIMIT: "7" }), 50).limit).toBe(7);
    expect(readRecordOptions(context({ limit: "8" }, { TOOLYARD_LIMIT: "7" }), 50).limit).toBe(8);
  });

  test.each(["10001", "-1", "1.5", "1e3", "ten", " 5", "000005"])("cannot be %j", (limit) => {
    expect(() => readRecordOptions(context({ limit }), 50)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(JSON.stringify(limit)) }),
    );
  });
});
