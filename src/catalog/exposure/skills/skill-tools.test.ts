import { describe, expect, test } from "vitest";
import { sampleInstance, sampleSkill } from "../../../../test/sample-catalog.ts";
import { sampleView } from "../../../../test/sample-view.ts";
import { toolsNamedBy } from "./skill-tools.ts";

const view = sampleView([
  sampleInstance("github", [
    { name: "create_issue" },
    { name: "search" },
    { name: "mergeBranch" },
    { name: "run-job" },
  ]),
  sampleInstance("a-b", [{ name: "c" }, { name: "search" }]),
  sampleInstance("a", [{ name: "b-c" }]),
  sampleInstance("jira", [{ name: "search" }, { name: "move_card" }]),
]);

function named(more: Readonly<Record<string, unknown>>, visible: (path: string) => boolean = () => true): string[] {
  const skill = sampleSkill("github", { name: "triage", description: "Sorts what is new", ...more });
  return toolsNamedBy(skill, view, ({ path }) => visible(path)).map(({ path }) => path);
}

describe("tools that a skill's frontmatter names", () => {
  test.each([
    ["as a list", ["create_issue", "search"]],
    ["as a text with spaces", "create_issue search"],
    ["as a text with commas", "create_issue, search"],
    ["beside what hosts allow of their own", "Bash(git:*, jq:*) create_issue Read search"],
    ["as some hosts spell them", "mcp__github__create_issue mcp__github__search"],
    ["by paths and flat names", ["github:create_issue", "github-search"]],
  ])("are found in allowed-tools %s", (_how, allowed) => {
    expect(named({ "allowed-tools": allowed })).toEqual(["github:create_issue", "github:search"]);
  });

  test("are found in metadata, and in the description where they cannot be anything but names", () => {
    expect(named({ metadata: { tools: ["run-job"] } })).toEqual(["github:run-job"]);
    const description = "Use `create_issue`, then mergeBranch (or jira:move_card). To search, ask a person.";
    expect(named({ description })).toEqual(["github:create_issue", "github:mergeBranch", "jira:move_card"]);
  });

  test("are those of the skill's own server, never another's of the same bare name", () => {
    expect(named({ "allowed-tools": "move_card" })).toEqual([]);
    expect(named({ "allowed-tools": "jira:move_card search" })).toEqual(["jira:move_card", "github:search"]);
  });

  test("are looked up and never split: a spelling that means two tools means none", () => {
    expect(named({ "allowed-tools": "a-b-c" })).toEqual([]);
    expect(named({ "allowed-tools": "a:b-c a-b:c" })).toEqual(["a:b-c", "a-b:c"]);
  });

  test("are left out where the reader may not see them, or nobody has them", () => {
    const allowed = ["create_issue", "search", "nothing_like_it", "constructor", "__proto__"];
    expect(named({ "allowed-tools": allowed }, (path) => path !== "github:search")).toEqual(["github:create_issue"]);
  });

  test("are each named once, and bounded whatever is written there", () => {
    expect(named({ "allowed-tools": "search search", tools: ["search"] })).toEqual(["github:search"]);
    const attack = [
      17,
      null,
      { name: "search" },
      ...Array.from({ length: 100_000 }, (_, at) => `tool-${at}`),
      "search",
    ];
    expect(named({ "allowed-tools": attack, metadata: ["search"] })).toEqual([]);
    expect(named({ "allowed-tools": `${"x".repeat(1_000_000)} search` })).toEqual([]);
    const many = sampleView([
      sampleInstance(
        "m",
        Array.from({ length: 20 }, (_, at) => ({ name: `t_${at}` })),
      ),
    ]);
    const all = sampleSkill("m", { name: "all", description: "d", tools: many.names.tools.map(({ path }) => path) });
    expect(toolsNamedBy(all, many, () => true)).toHaveLength(8);
  });
});
