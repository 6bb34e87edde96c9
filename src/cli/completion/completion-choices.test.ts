import { expect, test } from "vitest";
import { commands } from "../commands.ts";
import { completionChoices, type KnownNames } from "./completion-choices.ts";

let asked = 0;
const known: KnownNames = {
  servers: async () => {
    asked += 1;
    return await Promise.resolve([
      { value: "github", about: "GitHub" },
      { value: "gitlab", about: "" },
    ]);
  },
  tools: async () => {
    asked += 1;
    return await Promise.resolve([
      { path: "github:create_issue", about: "Creates", parameters: ["title", "body"] },
      { path: "gitlab:list", about: "", parameters: [] },
    ]);
  },
};

async function valuesFor(before: readonly string[], current: string): Promise<readonly string[]> {
  return (await completionChoices({ before, current }, known, commands)).map(({ value }) => value);
}

test.each<[before: string[], current: string, values: string[]]>([
  [[], "res", ["resources", "restart", "restore"]],
  [[], "--po", ["--port"]],
  [["search"], "--ex", ["--exposure", "--explain"]],
  [["call"], "git", ["github:create_issue", "gitlab:list"]],
  [["call"], "github:", ["github:create_issue"]],
  [["call", "github:create_issue"], "", ["title=", "body="]],
  [["call", "github:create_issue", "title=x"], "", ["body="]],
  [["call", "github:create_issue", "--output", "x.png", "title=x"], "", ["body="]],
  [["call", "--config"], "", []],
  [["call", "--json"], "gith", ["github:create_issue"]],
  [["show"], "gitl", ["gitlab:list"]],
  [["tools"], "", ["github", "gitlab"]],
  [["tools", "github"], "", []],
  [["search", "--server"], "gitl", ["gitlab"]],
  [["completion"], "", ["bash", "zsh", "fish", "powershell"]],
  [["token"], "", ["new"]],
  [["nonsense"], "", []],
])("after %j, %j may become %j", async (before, current, values) => {
  expect([...(await valuesFor(before, current))].toSorted()).toEqual([...values].toSorted());
});

test("names are not looked up where none can come", async () => {
  asked = 0;
  await valuesFor([], "");
  await valuesFor(["call"], "--");
  await valuesFor(["stop"], "");
  expect(asked).toBe(0);
});
