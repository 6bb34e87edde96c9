import { describe, expect, test } from "vitest";
import { noToolRules } from "../../../test/harness/fake-server.ts";
import type { ToolRules } from "../../config/config.ts";
import type { PolicyRule } from "../../config/rows/rule-rows.ts";
import type { ServerSlug } from "../../kernel/ids.ts";
import { decideCall, decideTool, isOffered, type Deciding, type DecidedTool } from "./decide.ts";

interface World {
  readonly rules?: readonly PolicyRule[];
  readonly tools?: Partial<ToolRules>;
  readonly roles?: readonly string[];
  readonly isOfTeam?: boolean;
  readonly server?: string;
}

function deciding({ rules = [], tools = {}, roles = ["member"], isOfTeam, server = "files" }: World): Deciding {
  const installed = isOfTeam === undefined ? {} : { installed: { id: "i", team: "red", isOfTeam } };
  return {
    server: {
      ...{ slug: server as ServerSlug, key: server, annotations: "trust", ...installed },
      tools: { ...noToolRules, ...tools },
    },
    policy: { ask: ["destroy"], rules },
    principal: { roles },
  };
}

const tool = (upstreamName: string, inputSchema: object = { type: "object" }): DecidedTool => ({
  upstreamName,
  definition: { name: upstreamName, inputSchema } as DecidedTool["definition"],
});

const judged = (name: string, world: World, given: unknown = {}): string => {
  const { verdict, rule, approver } = decideCall(tool(name), deciding(world), () => given);
  return `${verdict}${approver === "self" ? "" : ` ${approver}`}${rule === null ? "" : ` by ${rule}`}`;
};

test("the strictest rule counts, wherever it is", () => {
  const allow: PolicyRule = { then: "allow" };
  const deny: PolicyRule = { tools: ["delete_*"], then: "deny" };
  const ask: PolicyRule = { tools: ["*_file"], then: "ask" };
  for (const rules of [
    [allow, deny, ask],
    [deny, ask, allow],
    [ask, allow, deny],
  ]) {
    expect(judged("delete_file", { rules })).toBe(`deny by policy.rules[${rules.indexOf(deny)}]`);
    expect(judged("read_file", { rules })).toBe(`ask by policy.rules[${rules.indexOf(ask)}]`);
    expect(judged("delete", { rules })).toBe(`allow by policy.rules[${rules.indexOf(allow)}]`);
  }
  expect(judged("delete", { rules: [ask] })).toBe("ask");
  expect(judged("delete_file", { rules: [ask], tools: { neverAsk: ["*"] } })).toBe("ask by policy.rules[0]");
  expect(judged("delete", { rules: [ask], tools: { neverAsk: ["*"] } })).toBe("allow by tools.neverAsk: *");
  expect(judged("read", { rules: [allow], tools: { ask: ["read"] } })).toBe("ask by tools.ask: read");
  expect(judged("read", { rules: [allow], tools: { deny: ["read"] } })).toContain("deny by tools.deny");
});

test("of rules that ask, the one with the highest approver counts", () => {
  const rules: readonly PolicyRule[] = [
    { then: "ask" },
    { effects: ["write"], then: "ask", approver: "team-admin" },
    { tools: ["write_*"], servers: ["f*"], then: "ask", approver: "admin" },
  ];
  expect(judged("read_x", { rules })).toBe("ask by policy.rules[0]");
  expect(judged("create_x", { rules })).toBe("ask team-admin by policy.rules[1]");
  expect(judged("write_x", { rules, tools: { ask: ["*"] } })).toBe("ask admin by policy.rules[2]");
});

test("a role is the most that somebody is, and other names of roles as they are", () => {
  const rules: readonly PolicyRule[] = [{ roles: ["member"], then: "deny" }];
  const denied = (roles: readonly string[]): boolean => !isOffered(tool("read"), deciding({ rules, roles }));
  expect(denied(["member"])).toBe(true);
  expect(denied(["member", "team-admin"])).toBe(false);
  expect(denied(["admin", "member"])).toBe(false);
  expect(denied([])).toBe(false);
  const guests: readonly PolicyRule[] = [{ roles: ["guest", "team-owner"], then: "deny" }];
  for (const [roles, verdict] of [
    [["member", "guest"], "deny"],
    [["member", "team-owner"], "deny"],
    [["admin", "team-owner"], "allow"],
    [["member"], "allow"],
  ] as const)
    expect([roles, judged("read", { rules: guests, roles }).split(" ")[0]]).toEqual([roles, verdict]);
});

test("decisions about one tool do not mix: other people, other servers, other rules", () => {
  const shared = tool("write_x");
  const rules: readonly PolicyRule[] = [{ roles: ["member"], servers: ["prod-*"], then: "deny" }];
  const worlds = [
    deciding({ rules, server: "prod-a" }),
    deciding({ rules, server: "prod-a", roles: ["admin"] }),
    deciding({ rules, server: "test" }),
    deciding({ server: "prod-a" }),
    ...Array.from({ length: 20 }, () => deciding({ rules, server: "prod-b" })),
  ];
  const expected = ["deny", "allow", "allow", "allow", ...Array.from({ length: 20 }, () => "deny")];
  for (let round = 0; round < 3; round += 1)
    expect(worlds.map((world) => decideTool(shared, world).verdict)).toEqual(expected);
});

describe("arguments", () => {
  const path = (then: PolicyRule["then"]): World => ({
    rules: [{ tools: ["write_file", "delete_file"], when: { path: ["/etc/*", "8080"] }, then }],
  });

  test.each([
    [{ path: "/etc/passwd" }, true],
    [{ path: ["/tmp/a", "/etc/b"] }, true],
    [{ path: [["/etc/b"]] }, true],
    [{ path: 8080 }, true],
    [{ path: 8.08e3 }, true],
    [{ path: "8080" }, true],
    [{ path: "/tmp" }, false],
    [{ path: null }, false],
    [{ path: {} }, false],
    [{ path: [] }, false],
    [{ other: "/etc/x" }, false],
    ["/etc/x", false],
    [undefined, false],
  ])("a rule that closes fits %j: %s", (given, isClosed) => {
    expect(judged("write_file", path("deny"), given)).toBe(isClosed ? "deny by policy.rules[0]" : "allow");
    expect(judged("write_file", path("ask"), given)).toBe(isClosed ? "ask by policy.rules[0]" : "allow");
  });

  test.each([
    [{ path: "/etc/x" }, true],
    [{ path: ["/etc/x", "/etc/y"] }, true],
    [{ path: ["/etc/x", "/home/y"] }, false],
    [{ path: ["/etc/x", null] }, false],
    [{ path: [] }, false],
    [{}, false],
    [undefined, false],
  ])("a rule that opens fits %j: %s", (given, isOpen) => {
    expect(judged("delete_file", path("allow"), given)).toBe(isOpen ? "allow by policy.rules[0]" : "ask");
  });

  test("are found below others, in lists, and under names with dots; several paths have to fit", () => {
    const rules: readonly PolicyRule[] = [
      { when: { "files.path": ["/etc/*"] }, then: "deny" },
      { when: { to: ["*@else.where"], "body.kind": ["html"] }, then: "deny" },
    ];
    const verdict = (given: unknown): string => judged("send", { rules }, given);
    expect(verdict({ files: [{ path: "/tmp" }, { path: "/etc/x" }] })).toBe("deny by policy.rules[0]");
    expect(verdict({ files: { path: "/etc/x" } })).toBe("deny by policy.rules[0]");
    expect(verdict({ "files.path": "/etc/x" })).toBe("deny by policy.rules[0]");
    expect(verdict({ files: "/etc/x", path: "/etc/x" })).toBe("allow");
    expect(verdict({ to: ["a@b", "c@else.where"], body: { kind: "html" } })).toBe("deny by policy.rules[1]");
    expect(verdict({ to: "c@else.where", body: { kind: "text" } })).toBe("allow");
    expect(verdict({ to: "c@else.where" })).toBe("allow");
  });

  test("that are too large to be compared fit what closes, and nothing that opens", () => {
    const long = "x".repeat(1_000_001);
    const many = Array.from({ length: 10_001 }, () => "x");
    const deep = Array.from({ length: 200 }).reduce<unknown>((within) => [within], "x");
    for (const given of [long, many, deep, [many, many]]) {
      expect(judged("write_file", path("deny"), { path: given })).toBe("deny by policy.rules[0]");
      expect(judged("delete_file", path("allow"), { path: given })).toBe("ask");
    }
    const rules = [{ when: { a: ["*y*y*y*"] }, then: "deny" }] as const;
    expect(judged("write", { rules }, { a: "x".repeat(900_000), path: long })).toBe("allow");
  });

  test("that choose something worse fit rules about that, and about what the tool says", () => {
    const manage = tool("manage_rows", { type: "object", properties: { action: { enum: ["list", "delete"] } } });
    const verdict = (effects: PolicyRule["effects"], then: PolicyRule["then"], action: string): string =>
      decideCall(manage, deciding({ rules: [{ effects, then }] }), () => ({ action })).verdict;
    expect([verdict(["destroy"], "deny", "list"), verdict(["destroy"], "deny", "delete")]).toEqual(["allow", "deny"]);
    expect([verdict(["write"], "ask", "list"), verdict(["write"], "ask", "delete")]).toEqual(["ask", "ask"]);
    // A rule allows that much, and no more.
    expect([verdict(["write"], "allow", "list"), verdict(["write"], "allow", "delete")]).toEqual(["allow", "ask"]);
    expect(verdict(["destroy"], "allow", "delete")).toBe("allow");
    expect(isOffered(manage, deciding({ rules: [{ effects: ["destroy"], then: "deny" }] }))).toBe(true);
  });
});

test("what a team wrote makes nothing weaker", () => {
  const tools = { neverAsk: ["*"], effects: { "delete_*": "read", sync: "destroy" } } as const;
  const rules: readonly PolicyRule[] = [{ servers: ["files"], then: "allow" }];
  const own = { tools, rules, isOfTeam: true };
  expect(judged("delete_file", own)).toBe("ask");
  expect(judged("sync", own)).toBe("ask");
  expect(judged("delete_file", { ...own, isOfTeam: false })).toBe("allow by tools.neverAsk: *");
  const ofTeam: readonly PolicyRule[] = [{ then: "allow" }, { tools: ["read"], then: "deny" }];
  expect(judged("delete_file", { tools: { rules: ofTeam }, isOfTeam: false })).toBe("ask");
  expect(judged("read", { tools: { rules: ofTeam }, isOfTeam: false })).toBe("deny by team red: rules[1]");
});
