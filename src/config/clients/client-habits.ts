import type { ClientHabits, ClientId } from "./client-row.ts";

/** The columns of the table of clients that only matter when one is connected. */
export const clientHabits: Readonly<Record<ClientId, ClientHabits>> = {
  "claude-desktop": {
    reload: "Quit Claude Desktop (closing its window is not enough) and start it again.",
  },
  "claude-code": {
    isTerminal: true,
    reload: "Start a new session of `claude`, or type `/mcp` in one that runs and reconnect there.",
    logInCommand: "claude mcp login",
  },
  cursor: {
    reload: "Open Cursor's settings, Tools & MCP, and switch the server on; where it is not listed, reload the window.",
  },
  vscode: {
    reload:
      "Run `MCP: List Servers` in the command palette and start the server there; VS Code asks once whether you trust it.",
  },
  windsurf: {
    switchOff: { field: "disabled", value: true },
    reload: "Press refresh in Windsurf's MCP panel, or restart Windsurf.",
  },
  codex: {
    switchOff: { field: "enabled", value: false },
    isTerminal: true,
    reload: "Start a new session of `codex`; `/mcp` lists the server there.",
    logInCommand: "codex mcp login",
  },
  gemini: {
    switchOff: { listedAt: ["mcp", "excluded"] },
    isTerminal: true,
    reload: "Start a new session of `gemini`, or type `/mcp refresh` in one that runs.",
  },
  zed: {
    switchOff: { field: "enabled", value: false },
    reload: "Nothing has to be done: Zed reads its settings at once. The settings of its agent panel show the server.",
  },
  cline: {
    switchOff: { field: "disabled", value: true },
    reload: "Nothing has to be done: Cline reads the file at once. Its MCP Servers panel shows the server.",
  },
  continue: {
    reload: "Reload the editor's window; agent mode then lists the server.",
  },
  opencode: {
    switchOff: { field: "enabled", value: false },
    isTerminal: true,
    reload: "Start `opencode` again; `opencode mcp list` shows the server.",
    logInCommand: "opencode mcp auth",
  },
  lmstudio: {
    reload:
      "Nothing has to be done: LM Studio reads the file when it is saved. Switch the server on under Program, Integrations.",
  },
};
