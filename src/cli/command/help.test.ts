import { expect, test } from "vitest";
import { commands } from "../commands.ts";
import { generalHelp } from "./help.ts";

test("the list of commands fits a terminal, with what each does in one column", () => {
  const lines = generalHelp().split("\n");
  expect(lines.filter((line) => line.length > 110)).toEqual([]);
  const told = lines.slice(lines.indexOf("Commands") + 1, lines.indexOf("", 3));
  const columns = told.filter((line) => !line.startsWith("  toolyard")).map((line) => line.search(/\S/));
  expect(new Set(columns)).toEqual(new Set([32]));
  for (const { usage, about } of Object.values(commands)) {
    const [form = ""] = usage.split(" [options]");
    expect(
      lines.some((line) => line.startsWith(`  ${form}`)),
      form,
    ).toBe(true);
    expect(told.map((line) => line.slice(32)).join(" "), form).toContain(about.slice(0, 40));
  }
});
