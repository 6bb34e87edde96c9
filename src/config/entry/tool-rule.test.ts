import { describe, expect, test } from "vitest";
import { parseDocument } from "../file/document.ts";
import { editJson } from "../edit/json-change.ts";
import { noRule, readEntryRules, toolRuleChanges, type ToolRule } from "./tool-rule.ts";

const path = ["mcpServers", "mail"];
const at = (text: string) => ({ document: parseDocument(text, "/t.json"), path });

function withRules(text: string, rules: Readonly<Record<string, Partial<ToolRule>>>): string {
  const whole = new Map(Object.entries(rules).map(([tool, rule]) => [tool, { ...noRule, ...rule }]));
  return editJson(text, toolRuleChanges(at(text), whole));
}

const file = `{
  // the servers
  "mcpServers": {
    "mail": {
      "command": "y", // kept
      "tools": {
        "deny": ["old_*", /* why */ "send"],
        "rename": { "read": "open" }
      }
    }
  }
}
`;

describe("a rule for a tool", () => {
  test("has a tool ask always, or never, and takes it out of the list again", () => {
    const asked = withRules(file, { read: { asks: "always" }, list: { asks: "never" } });
    expect(asked).toContain('"ask": ["read"]');
    expect(asked).toContain('"neverAsk": ["list"]');
    expect(readEntryRules(at(asked)).of("read").asks).toBe("always");
    const changed = withRules(asked, { read: { asks: "never" } });
    expect(readEntryRules(at(changed)).of("read").asks).toBe("never");
    expect(changed).not.toContain('"ask"');
    expect(withRules(changed, { read: {}, list: {} })).toBe(withRules(file, { read: {} }));
  });

  test("is set and taken out beside what is said of others, with comments and layout as they were", () => {
    const text = withRules(file, { read: { access: "deny", name: "view", description: "Reads one." } });
    expect(text).toContain('"deny": ["old_*", /* why */ "send", "read"]');
    expect(text).toContain('"rename": { "read": "view" }');
    expect(readEntryRules(at(text)).of("read")).toEqual({
      access: "deny",
      asks: null,
      name: "view",
      description: "Reads one.",
      phrases: null,
    });
    const bare = withRules(text, { read: {} });
    expect(readEntryRules(at(bare)).of("read")).toEqual(noRule);
    expect(bare).toContain('"deny": ["old_*", /* why */ "send"]');
    expect(bare).not.toContain("rename");
    expect(bare).toContain("// kept");
    expect(withRules(bare, { read: {} })).toBe(bare);
  });

  test("that is the last of its list takes the list along, and `tools` when that is empty then", () => {
    const before = '{ "mcpServers": { "mail": { "command": "y" } } }';
    const hidden = withRules(before, { send: { access: "deny", phrases: ["write to somebody"] } });
    expect(JSON.parse(hidden).mcpServers.mail.tools).toEqual({
      deny: ["send"],
      phrases: { send: ["write to somebody"] },
    });
    expect(JSON.parse(withRules(hidden, { send: {} }))).toEqual(JSON.parse(before));
  });

  test("for a pattern is a rule like others, and one that would become a pattern is refused", () => {
    expect(readEntryRules(at(file)).tools).toEqual(["old_*", "send", "read"]);
    expect(withRules(file, { "old_*": {} })).toContain('"deny": [/* why */ "send"]');
    expect(() => withRules(file, { "a*": { access: "deny" } })).toThrow(/would be one for many/);
    expect(withRules(file, { "a*": { name: "a" } })).toContain('"a*": "a"');
  });

  test("that allows a tool puts it into every list of what is offered, and it stays there without a rule", () => {
    const listed =
      '{ "mcpServers": { "mail": { "command": "y", "includeTools": ["get_*"], "tools": { "allow": ["a"] } } } }';
    const shown = withRules(listed, { b: { access: "allow" }, get_x: { access: "allow" } });
    const { mail } = JSON.parse(shown).mcpServers;
    expect([mail.tools.allow, mail.includeTools]).toEqual([
      ["a", "b", "get_x"],
      ["get_*", "b"],
    ]);
    expect(readEntryRules(at(shown)).of("b").access).toBe("allow");
    expect(withRules(shown, { a: {}, b: {}, get_x: {} })).toBe(shown);
    const hidden = withRules(shown, { b: { access: "deny" } });
    expect(readEntryRules(at(hidden)).of("b").access).toBe("deny");
    expect(readEntryRules(at(withRules(hidden, { b: {} }))).of("b").access).toBe("allow");
  });

  test("in another client's list is taken out of that one", () => {
    const foreign = '{ "mcpServers": { "mail": { "command": "y", "disabledTools": ["a", "b"] } } }';
    expect(readEntryRules(at(foreign)).of("a").access).toBe("deny");
    expect(JSON.parse(withRules(foreign, { a: { access: "deny" } }))).toEqual(JSON.parse(foreign));
    expect(JSON.parse(withRules(foreign, { a: {} })).mcpServers.mail).toEqual({ command: "y", disabledTools: ["b"] });
  });

  test.each(['"x"', "[1]", "{}", "null"])("is not written where %s stands in the place of a list", (value) => {
    const wrong = `{ "mcpServers": { "mail": { "tools": { "deny": ${value} } } } }`;
    expect(() => withRules(wrong, { a: { access: "deny" } })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("tools.deny") as string }),
    );
  });

  test("for hundreds at once is the same as for one after the other", () => {
    const tools = Array.from({ length: 300 }, (_, at) => `t${at}`);
    const start = '{ "mcpServers": { "mail": { "command": "y", "tools": { "deny": ["t7", "x"] } } } }';
    const once = withRules(start, Object.fromEntries(tools.map((tool) => [tool, { access: "deny" as const }])));
    expect(JSON.parse(once).mcpServers.mail.tools.deny).toEqual(["t7", "x", ...tools.filter((tool) => tool !== "t7")]);
    const back = withRules(once, Object.fromEntries(tools.map((tool) => [tool, {}])));
    expect(JSON.parse(back).mcpServers.mail.tools.deny).toEqual(["x"]);
  });

  test("for a thousand at once is an edit of the text for each list and map, and not for each tool", () => {
    const tools = Array.from({ length: 1_000 }, (_, number) => `t${number}`);
    const rules = (rule: (tool: string) => Partial<ToolRule>): ReadonlyMap<string, ToolRule> =>
      new Map(tools.map((tool) => [tool, { ...noRule, ...rule(tool) }]));
    const given = rules((tool) => ({ access: "deny", name: `new_${tool}`, description: tool, phrases: [tool] }));
    const start = '{ "mcpServers": { "mail": { "tools": { "rename": { "other": "o", "t7": "old" } } } } }';
    const changes = toolRuleChanges(at(start), given);
    expect(changes).toHaveLength(4);
    const text = editJson(start, changes);
    const { rename, describe: described, phrases } = JSON.parse(text).mcpServers.mail.tools;
    expect(rename).toEqual({ other: "o", ...Object.fromEntries(tools.map((tool) => [tool, `new_${tool}`])) });
    expect([described.t999, phrases.t999]).toEqual(["t999", ["t999"]]);
    const back = toolRuleChanges(
      at(text),
      rules(() => ({})),
    );
    expect(back).toHaveLength(4);
    expect(JSON.parse(editJson(text, back)).mcpServers.mail.tools).toEqual({ rename: { other: "o" } });
  });

  test("for many leaves comments in a map, and what is no map, as they are", () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, number) => [`t${number}`, { name: `n${number}` }]));
    const commented = '{ "mcpServers": { "mail": { "tools": { "rename": { /* why */ "a": "b" } } } } }';
    expect(withRules(commented, many)).toContain('{ /* why */ "a": "b"');
    const wrong = '{ "mcpServers": { "mail": { "tools": { "rename": "x" } } } }';
    expect(() => withRules(wrong, many)).toThrow(/rename/);
  });
});
