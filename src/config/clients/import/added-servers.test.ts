import { describe, expect, test } from "vitest";
import { addServers } from "./added-servers.ts";

const github = { command: "npx", args: ["-y", "server-github"] };
const docs = { url: "https://docs.example.com/mcp" };

describe("servers are added to our configuration", () => {
  test("a file that is not there yet gets them and nothing else", () => {
    expect(addServers(undefined, [["github", github]], "toolyard.json")).toBe(
      `{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "server-github"]
    }
  }
}
`,
    );
  });

  test("comments, order, indentation, line ends, a trailing comma and a byte-order mark stay", () => {
    const text =
      '\uFEFF{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"b": { "url": "http://b" }, // why\r\n\t\t"a": { "url": "http://a" }, /* last */\r\n\t},\r\n\t"toolyard": { "port": 4000 }\r\n}\r\n';
    const added = '\t\t"docs": {\r\n\t\t\t"url": "https://docs.example.com/mcp"\r\n\t\t},\r\n';
    const at = text.indexOf('\t},\r\n\t"toolyard"');
    expect(addServers(text, [["docs", docs]], "toolyard.json")).toBe(text.slice(0, at) + added + text.slice(at));
  });

  test("a comma is added behind the last member, before the comment that follows it", () => {
    const text = '{\n  "mcpServers": {\n    "a": { "url": "http://a" } // mine\n  }\n}\n';
    expect(addServers(text, [["docs", docs]], "toolyard.json")).toBe(
      '{\n  "mcpServers": {\n    "a": { "url": "http://a" }, // mine\n    "docs": {\n      "url": "https://docs.example.com/mcp"\n    }\n  }\n}\n',
    );
  });

  test.each([
    ["under another client's key", '{ "servers": { "a": { "url": "http://a" } } }', /^\{ "servers": \{ "a".*"docs"/s],
    ["into an empty object", '{ "mcpServers": {} }', /"mcpServers": \{\s*"docs"/],
    ["beside settings", '{ "toolyard": { "port": 1 } }', /"port": 1.*"mcpServers": \{\s*"docs"/s],
    ["into an empty file", "  \n", /"mcpServers": \{\s*"docs"/],
  ])("%s", (_what, text, expected) => {
    expect(addServers(text, [["docs", docs]], "toolyard.json")).toMatch(expected);
  });

  test("several are added in their order", () => {
    const written = addServers(
      "{}",
      [
        ["b", docs],
        ["a", github],
      ] as const,
      "toolyard.json",
    );
    expect(Object.keys((JSON.parse(written) as { mcpServers: object }).mcpServers)).toEqual(["b", "a"]);
  });

  test("FAULT 93: a name that would not become data is refused", () => {
    expect(() => addServers("{}", [["__proto__", docs]], "toolyard.json")).toThrow(/__proto__/);
  });

  test("a name that is there already is never overwritten", () => {
    expect(() => addServers('{ "mcpServers": { "a": {} } }', [["a", docs]], "toolyard.json")).toThrow(
      "toolyard.json:1:24: there is a server of this name already",
    );
  });

  test("a broken file is refused with its place", () => {
    expect(() => addServers('{ "mcpServers": { }', [["a", docs]], "toolyard.json")).toThrow(/^toolyard\.json:1:\d+/);
  });
});
