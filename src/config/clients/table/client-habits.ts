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
    limits: { call: { field: "timeout", unitMs: 1 } },
    advice: [
      "Permission rules of its settings files that name a parameter, as " +
        "`mcp__toolyard__execute_mcp_tool(tool_path:…)`, do nothing there, and a `deny` says nothing of it: " +
        "`toolyard connect claude-code --hook` has the rules of this configuration applied before each call.",
    ],
  },
  cursor: {
    reload: "Open Cursor's settings, Tools & MCP, and switch the server on; where it is not listed, reload the window.",
  },
  vscode: {
    reload:
      "Run `MCP: List Servers` in the command palette and start the server there; VS Code asks once whether you " +
      "trust it.",
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
    // A server that is not there at the first request is missing from it; but one that is required and cannot be
    // reached ends Codex. What it starts itself can always be reached.
    commandFields: { required: true },
    shownAt: ["features", "code_mode", "direct_only_tool_namespaces"],
    limits: {
      call: { field: "tool_timeout_sec", unitMs: 1_000, isShort: true },
      start: { field: "startup_timeout_sec", unitMs: 1_000 },
    },
    advice: [
      "`startup_timeout_sec` and what else the entry says of time limits and approvals stay as they are.",
      "`codex exec` cannot ask, and refuses each call that would be asked about, which are those that do more than " +
        'read: `default_tools_approval_mode = "approve"` in the entry lets all of them through there, which is for you ' +
        "to say.",
    ],
  },
  gemini: {
    switchOff: { listedAt: ["mcp", "excluded"] },
    isTerminal: true,
    reload: "Start a new session of `gemini`, or type `/mcp refresh` in one that runs.",
    limits: { call: { field: "timeout", unitMs: 1, isShort: true } },
    advice: [
      'With `-p` its model is offered the tools of trusted servers only: `"trust": true` in the entry does that, ' +
        "and ends all questions before calls.",
    ],
  },
  zed: {
    switchOff: { field: "enabled", value: false },
    reload: "Nothing has to be done: Zed reads its settings at once. The settings of its agent panel show the server.",
  },
  cline: {
    switchOff: { field: "disabled", value: true },
    reload: "Nothing has to be done: Cline reads the file at once. Its MCP Servers panel shows the server.",
    limits: { call: { field: "timeout", unitMs: 1_000, isShort: true } },
  },
  continue: {
    reload: "Reload the editor's window; agent mode then lists the server.",
  },
  opencode: {
    switchOff: { field: "enabled", value: false },
    isTerminal: true,
    reload: "Start `opencode` again; `opencode mcp list` shows the server.",
    logInCommand: "opencode mcp auth",
    limits: { call: { field: "timeout", unitMs: 1 } },
  },
  lmstudio: {
    reload:
      "Nothing has to be done: LM Studio reads the file when it is saved. Switch the server on under Program, " +
      "Integrations.",
  },
  copilot: {
    isTerminal: true,
    reload: "Start a new session of `copilot`, or type `/mcp` in one that runs.",
    // It keeps tools behind a search of its own as soon as there are others.
    ownFields: { tools: ["*"], deferTools: "never" },
    limits: { call: { field: "timeout", unitMs: 1 } },
  },
  qwen: {
    switchOff: { listedAt: ["mcp", "excluded"] },
    isTerminal: true,
    reload: "Start a new session of `qwen`, or type `/mcp` in one that runs.",
    // It keeps all tools of servers behind a search of its own.
    ownFields: { alwaysLoadTools: true },
    limits: { call: { field: "timeout", unitMs: 1, isShort: true } },
    advice: [
      'With `-p` it refuses each call that it would ask about: `"trust": true` in the entry ends these ' +
        "questions, everywhere.",
    ],
  },
  kimi: {
    switchOff: { field: "enabled", value: false },
    isTerminal: true,
    reload: "Start a new session of `kimi`, or type `/new` in one that runs.",
    limits: {
      call: { field: "toolTimeoutMs", unitMs: 1, isShort: true },
      start: { field: "startupTimeoutMs", unitMs: 1 },
    },
  },
};
