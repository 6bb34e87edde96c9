import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Transport } from "../config.ts";
import { askingPackages, asksForRoots } from "./asks-for-roots.ts";

const stdio = (command: string, ...args: string[]): Transport => ({ kind: "stdio", command, args, env: {}, cwd: "/" });

test.each([
  ["npx -y", stdio("npx", "-y", "@modelcontextprotocol/server-filesystem", "/data")],
  ["a version", stdio("npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/data")],
  ["a tag", stdio("npx", "@playwright/mcp@latest")],
  ["uvx", stdio("uvx", "mcp-server-git")],
  ["a Python version", stdio("uvx", "mcp-server-git==1.2")],
  ["its installed folder", stdio("node", "/x/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")],
  ["a Windows folder", stdio("node", "C:\\x\\node_modules\\@modelcontextprotocol\\server-filesystem\\dist\\index.js")],
  ["its command", stdio("/home/me/.npm-global/bin/mcp-server-filesystem", "/data")],
])("a server that asks for roots is known by %s", (_how, transport) => {
  expect(asksForRoots(transport)).toBe(true);
});

test.each([
  ["another package", stdio("npx", "-y", "@modelcontextprotocol/server-memory")],
  ["a folder of that name", stdio("node", "server.js", "/data/server-filesystem")],
  ["a remote server", { kind: "http", url: "http://localhost/mcp-server-git", headers: {} } as const],
])("%s is none", (_what, transport) => {
  expect(asksForRoots(transport)).toBe(false);
});

test("docs/roots.md lists all of them", () => {
  const page = readFileSync(new URL("../../../docs/roots.md", import.meta.url), "utf8");
  for (const name of askingPackages) expect(page).toContain(`\`${name}\``);
});
