import { noToolRules } from "../../../test/harness/fake-server.ts";
import { describe, expect, test } from "vitest";
import type { ToolRules } from "../../config/config.ts";
import type { ServerSlug } from "../../kernel/ids.ts";
import { judgeNamedTool, type RuledServer } from "./named-tool.ts";

function server(slug: string, rules: Partial<ToolRules> = {}): RuledServer {
  const tools: ToolRules = { ...noToolRules, ...rules };
  return { slug: slug as ServerSlug, namespace: slug.replaceAll("-", "_"), tools };
}

const github = server("github", { deny: ["delete_*", "Merge.PR"], rename: { delete_repo: "tidy_up", read: "look" } });
const files = server("my-files", { allow: ["read_*"], deny: ["read_secret"] });
const a = server("a");
const ab = server("a-b", { deny: ["*"] });
const all = [github, files, a, ab];

describe("a name of a tool is judged as the gateway would judge its tool", () => {
  test.each([
    ["github:create_issue", "allow"],
    ["github:delete_branch", "deny"],
    [" github:delete_branch\n", "deny"],
    ["GitHub:delete_branch", "deny"],
    ["github/delete_branch", "deny"],
    ["github-delete_branch", "deny"],
    ["github__delete_branch", "deny"],
    ["github_1mcp_delete_branch", "deny"],
    ["github.delete_branch", "deny"],
    ["github : delete_branch", "deny"],
    ["github:tidy_up", "deny"],
    ["github:look", "allow"],
    ["github:Delete_Branch", "ask"],
    ["github:merge_pr", "ask"],
    ["my-files:read_file", "allow"],
    ["my_files__read_file", "allow"],
    ["my-files:write_file", "deny"],
    ["my_files__write_file", "deny"],
    ["my-files:Read_File", "ask"],
    ["my-files:read_secret", "deny"],
    // The tool `b-c` of `a`, or `c` of `a-b`.
    ["a-b-c", "ask"],
    ["a-b:c", "deny"],
    ["a:b-c", "allow"],
    // Without a server: it may be that of any.
    ["delete_branch", "ask"],
    ["nothing", "ask"],
    ["unknown:delete_branch", "ask"],
    ["", "ask"],
    ["github:", "allow"],
    [`github:${"x".repeat(65_536)}`, "allow"],
    [`github:delete_${"\u202Eא\u0000".repeat(20_000)}`, "deny"],
  ])("%j: %s", (name, verdict) => {
    expect(judgeNamedTool(name, all).verdict).toBe(verdict);
  });

  test("without a server that denies everything, a bare name that no rule denies is allowed", () => {
    expect(judgeNamedTool("nothing", [github, files, a])).toEqual({ verdict: "allow", servers: [] });
    expect(judgeNamedTool("delete_branch", [github])).toEqual({ verdict: "deny", servers: ["github"] });
    expect(judgeNamedTool("anything", [])).toEqual({ verdict: "allow", servers: [] });
  });
});
