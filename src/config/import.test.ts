import { expect, test } from "vitest";
import { importServers } from "./import.ts";

const imported = (value: unknown) => Object.fromEntries(importServers(JSON.stringify(value), "file.json").servers);

test("Claude Desktop, Claude Code and Cursor: other settings are left alone, variables stay unread", () => {
  const entry = { command: "npx", args: ["-y", "x"], env: { TOKEN: "${GH}" } };
  const file = {
    globalShortcut: "F1",
    mcpServers: { github: { type: "stdio", ...entry }, off: { command: "y", disabled: true } },
  };
  expect(imported(file)).toEqual({ github: entry, off: { command: "y", enabled: false } });
  expect(importServers(JSON.stringify(file), "file.json").warnings).toEqual([]);
});

test("VS Code: `servers` and `inputs`; Windsurf: `serverUrl`; Gemini: `httpUrl`; Cline: `streamableHttp`", () => {
  expect(
    imported({
      inputs: [],
      servers: { a: { type: "http", url: "https://a", headers: { K: "${input:key}" } } },
    }),
  ).toEqual({ a: { type: "http", url: "https://a", headers: { K: "${input:key}" } } });
  expect(imported({ mcp: { servers: { a: { command: "x" } } } })).toEqual({ a: { command: "x" } });
  expect(imported({ mcpServers: { a: { serverUrl: "https://a" } } })).toEqual({
    a: { type: "http", url: "https://a" },
  });
  expect(imported({ mcpServers: { a: { httpUrl: "https://a" } } })).toEqual({
    a: { type: "http", url: "https://a" },
  });
  expect(imported({ mcpServers: { a: { type: "streamableHttp", url: "https://a" } } })).toEqual({
    a: { type: "http", url: "https://a" },
  });
  expect(imported({ mcpServers: { a: { type: "sse", url: "https://a" } } })).toEqual({
    a: { type: "sse", url: "https://a" },
  });
});

test("fields that only the other client knows are named, but not those that say nothing about what is offered", () => {
  const text =
    '{ "mcpServers": { "a": { "command": "x", "watchPaths": [], "alwaysAllow": [], "disabledTools": ["y"] } } }';
  const { warnings, servers } = importServers(text, "cline.json");
  expect(warnings).toEqual(["cline.json:1:56: mcpServers.a.watchPaths: unknown field, ignored"]);
  expect(servers.get("a")).toEqual({ command: "x", disabledTools: ["y"] });
});

test("FAULT 93: keys that are no data are refused with their place, and nothing is polluted", () => {
  for (const text of [
    '{ "mcpServers": { "__proto__": { "command": "x" } } }',
    '{ "mcpServers": { "a": { "command": "x", "__proto__": { "admin": true } } } }',
    '{ "mcpServers": { "a": { "command": "x", "env": { "constructor": "y" } } } }',
  ]) {
    expect(() => importServers(text, "f.json")).toThrow(
      /^f\.json:1:\d+: the key "(__proto__|constructor)" is not allowed$/,
    );
  }
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test("FAULT 87: broken text is refused with line and column", () => {
  expect(() => importServers('{\n "mcpServers": {', "f.json")).toThrow(
    "f.json:2:17: expected `}`; the file ends or goes wrong here",
  );
});
