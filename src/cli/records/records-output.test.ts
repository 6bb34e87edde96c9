import { describe, expect, test } from "vitest";
import type { CommandContext } from "../command/command-context.ts";
import { readLimit } from "./records-output.ts";

const context = (flags: CommandContext["flags"], env: CommandContext["env"] = {}): CommandContext => ({
  flags,
  positionals: [],
  isBare: false,
  env,
  cwd: "/",
  home: "/h",
  homeDirectories: { config: "/c", data: "/d", cache: "/e" } as unknown as CommandContext["homeDirectories"],
  version: "0",
  mainFile: "",
  unlocked: {},
});

describe("how many rows a command shows", () => {
  test("is its standard", () => {
    expect(readLimit(context({}), 50)).toBe(50);
  });

  test("is what was asked for, also by a variable", () => {
    expect(readLimit(context({ limit: "10000" }), 50)).toBe(10_000);
    expect(readLimit(context({ limit: "0" }), 50)).toBe(0);
    expect(readLimit(context({}, { TOOLYARD_LIMIT: "7" }), 50)).toBe(7);
    expect(readLimit(context({ limit: "8" }, { TOOLYARD_LIMIT: "7" }), 50)).toBe(8);
  });

  test.each(["10001", "-1", "1.5", "1e3", "ten", " 5", "000005"])("cannot be %j", (limit) => {
    expect(() => readLimit(context({ limit }), 50)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(JSON.stringify(limit)) }),
    );
  });
});
