import { describe, expect, test } from "vitest";
import { clientProfiles, findClientProfile, withWrittenProfiles } from "./client-profiles.ts";
import { buildConfig } from "../load.ts";

const ownTools = { toolMeta: {}, ownResourceTools: true };

function load(clients: unknown) {
  return buildConfig(
    { file: "/conf/toolyard.json", text: JSON.stringify({ toolyard: { clients } }) },
    { cwd: "/conf", env: {}, flags: {}, homeDirectories: { config: "/c", data: "/d" }, cores: 2 },
  );
}

describe("the profile of a client", () => {
  const profiles = withWrittenProfiles({
    "family-*": { ownResourceTools: true },
    "family-of-two-*": { toolMeta: { "*": { x: 1 } } },
  });

  test("is found by the exact name, also behind mcp-remote", () => {
    const opencode = { ...ownTools, maxResultTokens: 10_000 };
    expect(findClientProfile(profiles, "opencode")).toEqual(opencode);
    expect(findClientProfile(profiles, "opencode (via mcp-remote 0.15.1)")).toEqual(opencode);
    for (const name of [undefined, "", "Opencode", "opencode-2", "constructor", "__proto__", "x (via opencode)"])
      expect(findClientProfile(profiles, name)).toBeUndefined();
  });

  test("is found by the longest beginning that a row ends with a star", () => {
    expect(findClientProfile(profiles, "family-toolyard")).toEqual(ownTools);
    expect(findClientProfile(profiles, "family-of-two-x")?.toolMeta).toEqual({ "*": { x: 1 } });
    expect(findClientProfile(profiles, "family")).toBeUndefined();
  });
});

describe("toolyard.clients", () => {
  test("changes a row field by field, and adds rows", () => {
    const { settings, warnings } = load({
      "claude-code": { ownResourceTools: true, splitExecute: false },
      opencode: { ownResourceTools: false, maxResultTokens: 30_000 },
      mine: { toolMeta: { discover_mcp_tools: { "mine/pinned": true } } },
    });
    expect(warnings).toEqual([]);
    expect(settings.clients["claude-code"]).toEqual({
      toolMeta: clientProfiles["claude-code"]?.toolMeta,
      ownResourceTools: true,
      splitExecute: false,
      loadsLazily: true,
    });
    expect(settings.clients["opencode"]).toEqual({ toolMeta: {}, ownResourceTools: false, maxResultTokens: 30_000 });
    expect(settings.clients["mine"]).toEqual({
      toolMeta: { discover_mcp_tools: { "mine/pinned": true } },
      ownResourceTools: false,
    });
    expect(settings.clients["codex-mcp-client"]).toEqual({
      ...ownTools,
      splitExecute: true,
      maxResultTokens: 8_000,
    });
  });

  test("says what is wrong with a row, and where", () => {
    expect(() => load({ mine: { ownResourceTools: "yes" } })).toThrow(
      /toolyard\.clients\.mine\.ownResourceTools: expected a boolean/,
    );
    expect(() => load({ mine: { toolMeta: { execute_mcp_tool: 1 } } })).toThrow(/execute_mcp_tool/);
    expect(load({ mine: { toolMeta: { search: {} } } }).warnings.join()).toContain("mine.toolMeta.search");
  });
});
