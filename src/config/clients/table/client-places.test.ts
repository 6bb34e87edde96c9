import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { clientProfiles } from "../../rows/client-profiles.ts";
import { placesOf, systemOf, type ClientSurroundings } from "./client-places.ts";
import { clientNamed, clientTable, findClient } from "./client-table.ts";

const mac: ClientSurroundings = { home: "/Users/ann", env: {}, platform: "darwin", cwd: "/Users/ann/shop" };
const windows: ClientSurroundings = {
  home: "C:\\Users\\ann",
  env: { APPDATA: "C:\\Users\\ann\\AppData\\Roaming" },
  platform: "win32",
  cwd: "C:\\Users\\ann\\shop",
};
const linux: ClientSurroundings = { home: "/home/ann", env: {}, platform: "linux", cwd: "/home/ann/shop" };

function filesOf(id: string, surroundings: ClientSurroundings): string[] {
  return placesOf(findClient(id)!, surroundings).flatMap(({ files }) => files);
}

describe("where each client keeps its servers", () => {
  const user: readonly (readonly [string, string, string, string])[] = [
    [
      "claude-desktop",
      "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json",
      "C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
      "/home/ann/.config/Claude/claude_desktop_config.json",
    ],
    ["claude-code", "/Users/ann/.claude.json", "C:\\Users\\ann\\.claude.json", "/home/ann/.claude.json"],
    ["cursor", "/Users/ann/.cursor/mcp.json", "C:\\Users\\ann\\.cursor\\mcp.json", "/home/ann/.cursor/mcp.json"],
    [
      "vscode",
      "/Users/ann/Library/Application Support/Code/User/mcp.json",
      "C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json",
      "/home/ann/.config/Code/User/mcp.json",
    ],
    [
      "windsurf",
      "/Users/ann/.codeium/windsurf/mcp_config.json",
      "C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json",
      "/home/ann/.codeium/windsurf/mcp_config.json",
    ],
    ["codex", "/Users/ann/.codex/config.toml", "C:\\Users\\ann\\.codex\\config.toml", "/home/ann/.codex/config.toml"],
    [
      "gemini",
      "/Users/ann/.gemini/settings.json",
      "C:\\Users\\ann\\.gemini\\settings.json",
      "/home/ann/.gemini/settings.json",
    ],
    [
      "zed",
      "/Users/ann/.config/zed/settings.json",
      "C:\\Users\\ann\\AppData\\Roaming\\Zed\\settings.json",
      "/home/ann/.config/zed/settings.json",
    ],
    [
      "cline",
      "/Users/ann/.cline/data/settings/cline_mcp_settings.json",
      "C:\\Users\\ann\\.cline\\data\\settings\\cline_mcp_settings.json",
      "/home/ann/.cline/data/settings/cline_mcp_settings.json",
    ],
    [
      "continue",
      "/Users/ann/.continue/config.yaml",
      "C:\\Users\\ann\\.continue\\config.yaml",
      "/home/ann/.continue/config.yaml",
    ],
    [
      "opencode",
      "/Users/ann/.config/opencode/opencode.json",
      "C:\\Users\\ann\\.config\\opencode\\opencode.json",
      "/home/ann/.config/opencode/opencode.json",
    ],
    [
      "lmstudio",
      "/Users/ann/.lmstudio/mcp.json",
      "C:\\Users\\ann\\.lmstudio\\mcp.json",
      "/home/ann/.lmstudio/mcp.json",
    ],
    [
      "copilot",
      "/Users/ann/.copilot/mcp-config.json",
      "C:\\Users\\ann\\.copilot\\mcp-config.json",
      "/home/ann/.copilot/mcp-config.json",
    ],
    ["qwen", "/Users/ann/.qwen/settings.json", "C:\\Users\\ann\\.qwen\\settings.json", "/home/ann/.qwen/settings.json"],
    ["kimi", "/Users/ann/.kimi-code/mcp.json", "C:\\Users\\ann\\.kimi-code\\mcp.json", "/home/ann/.kimi-code/mcp.json"],
  ];

  test.each(user)("%s, on three systems", (id, onMac, onWindows, onLinux) => {
    expect([mac, windows, linux].map((surroundings) => filesOf(id, surroundings)[0])).toEqual([
      onMac,
      onWindows,
      onLinux,
    ]);
  });

  test("the list above has every client of the table", () => {
    expect(user.map(([id]) => id)).toEqual(clientTable.map(({ id }) => id));
  });

  test.each<[string, Record<string, string>, string]>([
    ["claude-code", { CLAUDE_CONFIG_DIR: "/srv/claude" }, "/srv/claude/.claude.json"],
    ["codex", { CODEX_HOME: "/srv/codex" }, "/srv/codex/config.toml"],
    ["gemini", { GEMINI_CLI_HOME: "/srv/gemini" }, "/srv/gemini/.gemini/settings.json"],
    ["cline", { CLINE_MCP_SETTINGS_PATH: "mcp.json", CLINE_DIR: "/srv/cline" }, "/home/ann/shop/mcp.json"],
    ["cline", { CLINE_DATA_DIR: "/srv/data" }, "/srv/data/settings/cline_mcp_settings.json"],
    ["continue", { CONTINUE_GLOBAL_DIR: "/srv/continue" }, "/srv/continue/config.yaml"],
    ["zed", { XDG_CONFIG_HOME: "/srv/xdg" }, "/srv/xdg/zed/settings.json"],
    ["opencode", { XDG_CONFIG_HOME: "/srv/xdg" }, "/srv/xdg/opencode/opencode.json"],
    ["vscode", { XDG_CONFIG_HOME: "relative" }, "/home/ann/.config/Code/User/mcp.json"],
    ["codex", { CODEX_HOME: "" }, "/home/ann/.codex/config.toml"],
    ["copilot", { COPILOT_HOME: "/srv/copilot" }, "/srv/copilot/mcp-config.json"],
    ["qwen", { QWEN_HOME: "/srv/qwen" }, "/srv/qwen/settings.json"],
    ["kimi", { KIMI_CODE_HOME: "/srv/kimi" }, "/srv/kimi/mcp.json"],
  ])("%s follows %j", (id, env, file) => {
    expect(filesOf(id, { ...linux, env })[0]).toBe(file);
  });

  test("a variable moves the list of what is switched off along with the file", () => {
    const places = placesOf(findClient("claude-code")!, { ...linux, env: { CLAUDE_CONFIG_DIR: "/srv/claude" } });
    expect(places[0]?.off[0]).toEqual({
      files: ["/srv/claude/.claude.json"],
      keyPath: ["projects", "/home/ann/shop", "disabledMcpServers"],
      kind: "denied",
    });
  });

  test("servers of one project stand under the project's path", () => {
    const local = placesOf(findClient("claude-code")!, mac).find(({ row }) => row.scope === "local");
    expect(local?.keyPath).toEqual(["projects", "/Users/ann/shop", "mcpServers"]);
  });

  test("other Unix systems are treated as Linux is", () => {
    expect(systemOf("freebsd")).toBe("linux");
    expect(filesOf("zed", { ...linux, platform: "freebsd" })).toEqual(filesOf("zed", linux));
  });
});

describe("names of clients", () => {
  test("every profile that a client gets by its name belongs to a client of the table", () => {
    const names = Object.keys(clientProfiles);
    expect(names.map((name) => [name, clientNamed(name) !== undefined])).toEqual(names.map((name) => [name, true]));
  });

  test("a client that was seen connecting is called what it was seen to be", () => {
    const seen = JSON.parse(readFileSync(new URL("../../../../docs/clients.json", import.meta.url), "utf8")) as {
      readonly name: string;
      readonly clientName: string;
    }[];
    const known = seen.filter(({ name }) => clientTable.some(({ label }) => label === name));
    expect(known.length).toBeGreaterThan(3);
    for (const { name, clientName } of known)
      expect([clientName, findClient(clientNamed(clientName) ?? "")?.label]).toEqual([clientName, name]);
  });

  test("no two clients share an id or a name", () => {
    for (const names of [clientTable.map(({ id }) => id), clientTable.flatMap(({ clientNames }) => clientNames)])
      expect(new Set(names).size).toBe(names.length);
  });
});
