import { describe, expect, test } from "vitest";
import { buildConfig } from "../load.ts";

function load(entry: object) {
  const { servers, warnings } = buildConfig(
    { file: "/conf/toolyard.json", text: JSON.stringify({ mcpServers: { one: { command: "x", ...entry } } }) },
    { cwd: "/conf", env: {}, flags: {}, homeDirectories: { config: "/c", data: "/d" }, cores: 2 },
  );
  return { problem: servers[0]?.disabledReason, warnings };
}

describe("a field that was meant to hide tools, and that nothing reads, disables its entry", () => {
  test.each([
    ["disabledtools", "disabledTools"],
    ["disableTools", "disabledTools"],
    ["disabled-tools", "disabledTools"],
    ["disabledTool", "disabledTools"],
    ["diabledTools", "disabledTools"],
    ["enabledtools", "enabledTools"],
    ["EnabledTools", "enabledTools"],
    ["include_tools", "includeTools"],
    ["excludedTools", "excludeTools"],
    ["tool", "tools"],
    ["denytools", "tools.allow` or `tools.deny"],
    ["denyTools", "tools.allow` or `tools.deny"],
    ["allowedTools", "tools.allow` or `tools.deny"],
    ["blocked_tools", "tools.allow` or `tools.deny"],
    ["toolsDeny", "tools.allow` or `tools.deny"],
    ["toolBlacklist", "tools.allow` or `tools.deny"],
    ["hiddenTools", "tools.allow` or `tools.deny"],
  ])("%s", (name, meant) => {
    const { problem } = load({ [name]: ["delete_everything"] });
    expect(problem).toContain(
      `: mcpServers.one.${name}: nothing reads this field, and it seems to be meant to hide something; did you mean \`${meant}\`?`,
    );
  });

  test.each([{ denny: ["a"] }, { only: ["a"] }, { disabled: ["a"] }, { allowed: "a" }])("tools: %j", (tools) => {
    const [name = ""] = Object.keys(tools);
    expect(load({ tools }).problem).toMatch(
      `mcpServers.one.tools.${name}: nothing reads this field, and it seems to be meant to hide something`,
    );
  });

  test.each([{ enable: false }, { isEnabled: false }, { disable: true }, { Disabled: true }])(
    "%j, which was meant to switch it off",
    (entry) => expect(load(entry).problem).toContain("it seems to be meant to hide something"),
  );
});

describe("an entry is used as it is, with a warning,", () => {
  test.each([
    { enable: true },
    { disable: false },
    { toolTimeout: 5 },
    { tool_timeout_sec: 60 },
    { toolsets: ["a"] },
    { scopes: ["read"] },
    { allow: ["x"] },
    { tools: { search: { approval_mode: "approve" } } },
    { inlcude: ["x"] },
  ])("for %j", (entry) => {
    const { problem, warnings } = load(entry);
    expect(problem).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("unknown field, ignored")]);
  });
});

test("every other problem of the entry is told with it", () => {
  const { problem } = load({ denyTools: ["a"], hiddenTools: ["b"], url: "http://a" });
  expect(problem).toMatch(/denyTools.*hiddenTools.*either `command` or `url`/s);
});
