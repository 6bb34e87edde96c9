import { describe, expect, test } from "vitest";
import { commands } from "../commands.ts";
import * as shortCommands from "../short-commands.ts";
import { commandGroups, commandHelp, generalHelp } from "./help.ts";

test("each command is in one group", () => {
  expect(Object.values(commandGroups).join(" ").split(" ").toSorted()).toEqual(Object.keys(commands).toSorted());
});

test("each command is loaded by its row, or has the name of a short command", () => {
  const rest = Object.keys(commands).filter((name) => commands[name]?.load === undefined);
  expect(rest.filter((name) => !(name in shortCommands))).toEqual([]);
  expect(Object.keys(commands).filter((name) => !rest.includes(name))).toEqual(["serve", "stdio", "hook"]);
});

describe.each([40, 80, 110])("on a terminal of %i columns", (columns) => {
  test("the list of commands fits, with what each does in one column", () => {
    const lines = generalHelp(columns).split("\n");
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    const words = lines.map((line) => line.slice(20)).join(" ");
    for (const { about } of Object.values(commands)) expect(words.replace(/\s+/g, " ")).toContain(about.slice(0, 20));
  });

  test.each(Object.keys(commands))("the help of `%s` fits, and no word of it is missing", (name) => {
    const help = commandHelp(name, columns);
    expect(help.split("\n").filter((line) => line.length > columns && line.trim().includes(" "))).toEqual([]);
    const { notes = "", about = "" } = commands[name] ?? {};
    const given = help.replace(/\s+/g, "");
    for (const text of [about, notes]) expect(given).toContain(text.replace(/\s+/g, ""));
  });
});
