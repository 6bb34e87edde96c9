import { expect, test } from "vitest";
import { parseDocument } from "../../config/file/document.ts";
import { buildConfig } from "../../config/load.ts";
import { readEntryRules } from "../../config/entry/tool-rule.ts";
import { mayUse } from "./tool-rules.ts";

const may = (tool: string, allow: readonly string[] | undefined, deny: readonly string[] = []): boolean =>
  mayUse({ rules: { allow, deny }, tool });

test("without rules every tool may be used; with an allow list only those on it; deny wins", () => {
  expect(may("a", undefined)).toBe(true);
  expect(may("a", [])).toBe(false);
  expect(may("a", ["a"])).toBe(true);
  expect(may("b", ["a"])).toBe(false);
  expect(may("a", ["a"], ["a"])).toBe(false);
});

test("a star stands for any run of characters, anywhere and more than once", () => {
  for (const [pattern, name, matches] of [
    ["*", "", true],
    ["*", "anything", true],
    ["get_*", "get_x", true],
    ["get_*", "forget_x", false],
    ["*_issue", "create_issue", true],
    ["*_issue", "create_issues", false],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "abc", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["a**b", "ab", true],
    ["A", "a", false],
    [".*", "x", false],
  ] as const)
    expect(may(name, [pattern]), `${pattern} ${name}`).toBe(matches);
});

test("a pattern full of stars takes linear time", () => {
  expect(may("a".repeat(100_000), [`${"a*".repeat(1_000)}b`])).toBe(false);
});

const at = (text: string) => ({ document: parseDocument(text, "/t.json"), path: ["mcpServers", "mail"] });

test("what hides a tool is said as the policy decides it", () => {
  const entries = [
    {},
    { tools: { deny: ["se*"] } },
    { tools: { allow: ["read"] } },
    { tools: { allow: ["*"], deny: ["read"] }, enabledTools: ["send"] },
    { tools: ["send"] },
    { tools: [], disabled_tools: ["read"] },
    { tools: { allow: [] } },
  ];
  for (const entry of entries) {
    const text = JSON.stringify({ mcpServers: { mail: { command: "y", ...entry } } });
    const options = { cwd: "/", env: {}, flags: {}, homeDirectories: { config: "/", data: "/", home: "/" } as never };
    const [server] = buildConfig({ file: "/t.json", text }, options).servers;
    for (const tool of ["send", "read"])
      expect([entry, tool, readEntryRules(at(text)).hiddenBy(tool).length === 0]).toEqual([
        entry,
        tool,
        server !== undefined && mayUse({ rules: server.tools, tool }),
      ]);
  }
  expect(readEntryRules(at('{"mcpServers":{"mail":{"tools":{"deny":["x","old_*"]}}}}')).hiddenBy("old_one")).toEqual([
    { list: "tools.deny", pattern: "old_*" },
  ]);
  expect(readEntryRules(at('{"mcpServers":{"mail":{"tools":{"allow":["a"]}}}}')).hiddenBy("b")).toEqual([
    { list: "tools.allow", pattern: null },
  ]);
});
