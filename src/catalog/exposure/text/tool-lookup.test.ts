import { describe, expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { sampleStanding, sampleView } from "../../../../test/sample-view.ts";
import type { InstanceStatus } from "../../../kernel/status-words.ts";
import { noArguments } from "../../../kernel/call/call-context.ts";
import { nearestNames } from "./suggestions.ts";
import { resolveTool } from "./tool-lookup.ts";

const view = sampleView([
  sampleInstance("github", [{ name: "create_issue" }, { name: "list_issues" }]),
  sampleInstance("gitlab", [{ name: "create_issue" }]),
]);
const resolve = (spelling: string): ReturnType<typeof resolveTool> => resolveTool(view, spelling, noArguments);

describe("a call by name", () => {
  test("a known spelling is a call; a bare one carries a warning", () => {
    expect(resolve("github:create_issue")).toMatchObject({
      kind: "call",
      tool: { path: "github:create_issue" },
      warning: undefined,
    });
    expect(resolve("list_issues").warning).toContain("github:list_issues");
  });

  test("a name of several tools is refused with all of their paths", () => {
    expect(() => resolve("create_issue")).toThrow(
      expect.objectContaining({
        code: "TOOL_AMBIGUOUS",
        data: { tool_paths: ["github:create_issue", "gitlab:create_issue"] },
      }),
    );
  });

  test("an unknown name: the closest, and the server's tools when it begins with a server", () => {
    expect(() => resolve("github:creat_isue")).toThrow(
      expect.objectContaining({
        code: "TOOL_UNKNOWN",
        data: expect.objectContaining({
          closest: expect.arrayContaining(["github:create_issue"]),
          tools_of_server: ["github:create_issue", "github:list_issues"],
        }),
      }),
    );
    expect(() => resolve("x".repeat(10_000))).toThrow(expect.objectContaining({ code: "TOOL_UNKNOWN" }));
  });

  test.each([
    ["disabled", "SERVER_DISABLED"],
    ["awaiting_user_config", "SERVER_NEEDS_CONFIG"],
    ["requires_reauth", "SERVER_NEEDS_LOGIN"],
    ["offline", "SERVER_OFFLINE"],
    ["error", "SERVER_FAILED"],
    ["permanently_failed", "SERVER_FAILED"],
    ["connecting", "SERVER_STARTING"],
    ["provisioning", "SERVER_STARTING"],
  ] as const)("a server that is %s and was never seen answers %s", (status: InstanceStatus, code) => {
    const unseen = sampleView([], [sampleStanding("new", { status, reason: "because" })]);
    expect(() => resolveTool(unseen, "new:anything", noArguments)).toThrow(expect.objectContaining({ code }));
  });
});

describe("the nearest names", () => {
  test("share the most letter pairs, and come in a fixed order", () => {
    expect(nearestNames("creat-isue", ["list_issues", "create_issue", "weather"], 2)).toEqual([
      "create_issue",
      "list_issues",
    ]);
    expect(nearestNames("zz", ["a", "b"], 5)).toEqual([]);
    expect(nearestNames("", ["a", "b", "c"], 2)).toEqual(["a", "b"]);
  });

  test("are found among many without an error costing more than a call", () => {
    const many = Array.from({ length: 30_000 }, (_, index) => `server-${index % 50}:tool_number_${index}`);
    expect(nearestNames("server-1:tool_number_1", many, 5)).toHaveLength(5);
  });
});
