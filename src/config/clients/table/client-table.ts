import { clientProfiles } from "../../rows/client-profiles.ts";
import { matchesPattern } from "../../words/slug.ts";
import { clientHabits } from "./client-habits.ts";
import type { ClientHabits, ClientId, ClientRow, MovingVariable, OffList, PathTemplate } from "./client-row.ts";
import { projectKey } from "./client-row.ts";

const claudeFolder: MovingVariable = { name: "CLAUDE_CONFIG_DIR", within: ".claude.json" };
const claudeState: readonly PathTemplate[] = ["home:.claude.json"];

/** Servers that were switched off in one project, with `/mcp` or in answer to a question. */
function claudeOff(key: string): OffList {
  return { files: claudeState, variable: claudeFolder, keyPath: ["projects", projectKey, key], kind: "denied" };
}

const claudeSettings: readonly PathTemplate[] = [
  "project:.claude/settings.local.json",
  "project:.claude/settings.json",
];
/** Tools that its rules never allow, for this user and in this project. */
const claudeRules: readonly OffList[] = [
  {
    files: ["home:.claude/settings.json"],
    variable: { name: "CLAUDE_CONFIG_DIR", within: "settings.json" },
    keyPath: ["permissions", "deny"],
    kind: "rules",
  },
  { files: claudeSettings, keyPath: ["permissions", "deny"], kind: "rules" },
];

const geminiFolder: MovingVariable = { name: "GEMINI_CLI_HOME", within: ".gemini/settings.json" };
const qwenFolder: MovingVariable = { name: "QWEN_HOME", within: "settings.json" };

/** Of Gemini CLI, and of Qwen Code, which began as a copy of it. */
function geminiOff(files: readonly PathTemplate[], variable?: MovingVariable): readonly OffList[] {
  const common = { files, ...(variable === undefined ? {} : { variable }) };
  return [
    { ...common, keyPath: ["mcp", "excluded"], kind: "denied" },
    { ...common, keyPath: ["mcp", "allowed"], kind: "allowed" },
  ];
}

/** The folder of VS Code's user settings, and that of its preview version. */
function codeUser(file: string) {
  const inEach = <Base extends "support" | "roaming" | "config">(base: Base) =>
    [`${base}:Code/User/${file}`, `${base}:Code - Insiders/User/${file}`] as const;
  return { darwin: inEach("support"), win32: inEach("roaming"), linux: inEach("config") };
}

const clineFile = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
const clineShared: PathTemplate = "home:.cline/data/settings/cline_mcp_settings.json";

/** Tools of any server are switched by their names, in the file itself. */
function opencodeOff(files: readonly PathTemplate[]): readonly OffList[] {
  return ["tools", "permission"].map((key) => ({ files, keyPath: [key], kind: "switches" }));
}

const opencodeUser: readonly PathTemplate[] = [
  "config:opencode/opencode.json",
  "config:opencode/opencode.jsonc",
  "config:opencode/config.json",
];
const opencodeProject: readonly PathTemplate[] = [
  "project:opencode.json",
  "project:opencode.jsonc",
  "project:.opencode/opencode.json",
];

function copilotFolder(within: string): MovingVariable {
  return { name: "COPILOT_HOME", within };
}

const copilotOff: readonly OffList[] = [
  {
    files: ["home:.copilot/settings.json"],
    variable: copilotFolder("settings.json"),
    keyPath: ["disabledMcpServers"],
    kind: "denied",
  },
];

/** Its product name as docs/clients.md has it, where we know the client by the name that it gives itself. */
function productOf(clientName: string): string {
  return clientProfiles[clientName]?.product ?? clientName;
}

const rows: readonly Omit<ClientRow, keyof ClientHabits>[] = [
  {
    id: "claude-desktop",
    label: "Claude Desktop",
    source: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    places: [
      {
        scope: "user",
        files: {
          darwin: ["support:Claude/claude_desktop_config.json"],
          win32: ["roaming:Claude/claude_desktop_config.json"],
          linux: ["config:Claude/claude_desktop_config.json"],
        },
        format: "json",
        keyPath: ["mcpServers"],
      },
    ],
    entries: "common",
    variables: "none",
    // Remote servers are added as connectors of the account, which reach only public addresses.
    http: undefined,
    clientNames: ["claude-ai"],
  },
  {
    id: "claude-code",
    label: productOf("claude-code"),
    source: "https://code.claude.com/docs/en/mcp",
    places: [
      {
        scope: "user",
        files: claudeState,
        variables: [claudeFolder],
        format: "json",
        keyPath: ["mcpServers"],
        off: [claudeOff("disabledMcpServers"), ...claudeRules],
      },
      {
        scope: "project",
        files: ["project:.mcp.json"],
        format: "json",
        keyPath: ["mcpServers"],
        off: [
          claudeOff("disabledMcpjsonServers"),
          claudeOff("disabledMcpServers"),
          { files: claudeSettings, keyPath: ["disabledMcpjsonServers"], kind: "denied" },
          ...claudeRules,
        ],
      },
      {
        scope: "local",
        files: claudeState,
        variables: [claudeFolder],
        format: "json",
        keyPath: ["projects", projectKey, "mcpServers"],
        off: [claudeOff("disabledMcpServers"), ...claudeRules],
      },
    ],
    entries: "common",
    variables: "shell",
    http: { addressField: "url", type: "http", headersField: "headers" },
    clientNames: ["claude-code"],
  },
  {
    id: "cursor",
    label: "Cursor",
    source: "https://cursor.com/docs/mcp",
    places: [
      { scope: "user", files: ["home:.cursor/mcp.json"], format: "jsonc", keyPath: ["mcpServers"] },
      { scope: "project", files: ["project:.cursor/mcp.json"], format: "jsonc", keyPath: ["mcpServers"] },
    ],
    entries: "common",
    variables: "editor",
    http: { addressField: "url", headersField: "headers" },
    clientNames: ["cursor-vscode"],
  },
  {
    id: "vscode",
    label: "VS Code",
    source: "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
    places: [
      { scope: "user", files: codeUser("mcp.json"), format: "jsonc", keyPath: ["servers"] },
      // Where they stood until version 1.102.
      { scope: "user", files: codeUser("settings.json"), format: "jsonc", keyPath: ["mcp", "servers"] },
      { scope: "project", files: ["project:.vscode/mcp.json"], format: "jsonc", keyPath: ["servers"] },
    ],
    entries: "common",
    variables: "editor",
    http: { addressField: "url", type: "http", headersField: "headers" },
    clientNames: ["Visual Studio Code", "Visual Studio Code - Insiders"],
  },
  {
    id: "windsurf",
    label: "Windsurf",
    source: "https://docs.windsurf.com/windsurf/cascade/mcp",
    places: [
      { scope: "user", files: ["home:.codeium/windsurf/mcp_config.json"], format: "json", keyPath: ["mcpServers"] },
    ],
    entries: "common",
    variables: "editor",
    http: { addressField: "serverUrl", headersField: "headers" },
    clientNames: ["windsurf-client"],
  },
  {
    id: "codex",
    label: productOf("codex-mcp-client"),
    source: "https://github.com/openai/codex/blob/main/codex-rs/config/src/mcp_types.rs",
    places: [
      {
        scope: "user",
        files: ["home:.codex/config.toml"],
        variables: [{ name: "CODEX_HOME", within: "config.toml" }],
        format: "toml",
        keyPath: ["mcp_servers"],
      },
      { scope: "project", files: ["project:.codex/config.toml"], format: "toml", keyPath: ["mcp_servers"] },
    ],
    entries: "codex",
    variables: "none",
    http: { addressField: "url", headersField: "http_headers" },
    clientNames: ["codex-mcp-client"],
  },
  {
    id: "gemini",
    label: productOf("gemini-cli-mcp-client"),
    source: "https://geminicli.com/docs/tools/mcp-server",
    places: [
      {
        scope: "user",
        files: ["home:.gemini/settings.json"],
        variables: [geminiFolder],
        format: "jsonc",
        keyPath: ["mcpServers"],
        off: geminiOff(["home:.gemini/settings.json"], geminiFolder),
      },
      {
        scope: "project",
        files: ["project:.gemini/settings.json"],
        format: "jsonc",
        keyPath: ["mcpServers"],
        off: [
          ...geminiOff(["project:.gemini/settings.json"]),
          ...geminiOff(["home:.gemini/settings.json"], geminiFolder),
        ],
      },
    ],
    entries: "gemini",
    variables: "gemini",
    http: { addressField: "httpUrl", headersField: "headers" },
    clientNames: ["gemini-cli-mcp-client"],
  },
  {
    id: "zed",
    label: "Zed",
    // The paths are those of crates/paths/src/paths.rs, the entries those of crates/settings_content/src/project.rs.
    source: "https://zed.dev/docs/ai/mcp",
    places: [
      {
        scope: "user",
        // Zed asks for XDG_CONFIG_HOME on Linux only.
        files: {
          darwin: ["home:.config/zed/settings.json"],
          win32: ["roaming:Zed/settings.json"],
          linux: ["config:zed/settings.json"],
        },
        format: "jsonc",
        keyPath: ["context_servers"],
      },
      { scope: "project", files: ["project:.zed/settings.json"], format: "jsonc", keyPath: ["context_servers"] },
    ],
    entries: "zed",
    variables: "none",
    http: { addressField: "url", headersField: "headers" },
    clientNames: ["Zed"],
  },
  {
    id: "cline",
    label: "Cline",
    // Editors and the command line share the first file; the others are where the extension kept it before, and are
    // moved there when it starts.
    source: "https://docs.cline.bot/mcp/mcp-overview",
    places: [
      {
        scope: "user",
        files: {
          darwin: [clineShared, `support:${clineFile}`],
          win32: [clineShared, `roaming:${clineFile}`],
          linux: [clineShared, `config:${clineFile}`],
        },
        variables: [
          { name: "CLINE_MCP_SETTINGS_PATH", within: "" },
          { name: "CLINE_DATA_DIR", within: "settings/cline_mcp_settings.json" },
          { name: "CLINE_DIR", within: "data/settings/cline_mcp_settings.json" },
        ],
        format: "json",
        keyPath: ["mcpServers"],
      },
    ],
    entries: "cline",
    variables: "editor",
    http: { addressField: "url", type: "streamableHttp", headersField: "headers" },
    clientNames: ["Cline", "@cline/core"],
  },
  {
    id: "continue",
    label: "Continue",
    // The entries are those of packages/config-yaml/src/schemas/mcp/index.ts.
    source: "https://docs.continue.dev/customize/deep-dives/mcp",
    places: [
      {
        scope: "user",
        files: ["home:.continue/config.yaml"],
        variables: [{ name: "CONTINUE_GLOBAL_DIR", within: "config.yaml" }],
        format: "yaml",
        keyPath: ["mcpServers"],
      },
      { scope: "project", files: ["project:.continue/mcpServers/*"], format: "yaml", keyPath: ["mcpServers"] },
    ],
    entries: "continue",
    variables: "continue",
    http: { addressField: "url", type: "streamable-http", headersField: "requestOptions" },
    clientNames: ["continue-client", "continue-cli-client"],
  },
  {
    id: "opencode",
    label: productOf("opencode"),
    source: "https://opencode.ai/docs/mcp-servers",
    places: [
      {
        scope: "user",
        files: opencodeUser,
        format: "jsonc",
        keyPath: ["mcp"],
        off: opencodeOff(opencodeUser),
      },
      {
        scope: "project",
        files: opencodeProject,
        format: "jsonc",
        keyPath: ["mcp"],
        off: [...opencodeOff(opencodeUser), ...opencodeOff(opencodeProject)],
      },
    ],
    entries: "opencode",
    variables: "opencode",
    http: { addressField: "url", type: "remote", headersField: "headers" },
    clientNames: ["opencode"],
  },
  {
    id: "lmstudio",
    label: "LM Studio",
    source: "https://lmstudio.ai/docs/app/mcp",
    places: [{ scope: "user", files: ["home:.lmstudio/mcp.json"], format: "json", keyPath: ["mcpServers"] }],
    entries: "common",
    variables: "none",
    http: { addressField: "url", headersField: "headers" },
    clientNames: ["lmstudio-mcp-bridge", "lm-studio"],
  },
  {
    id: "copilot",
    label: productOf("copilot-cli"),
    source: "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
    // In a project it also reads `.mcp.json`, which is listed with Claude Code: that one is there does not say that
    // Copilot is. The same holds for Kimi Code.
    places: [
      {
        scope: "user",
        files: ["home:.copilot/mcp-config.json"],
        variables: [copilotFolder("mcp-config.json")],
        format: "json",
        keyPath: ["mcpServers"],
        off: copilotOff,
      },
      {
        scope: "project",
        files: ["project:.github/mcp.json"],
        format: "json",
        keyPath: ["mcpServers"],
        off: copilotOff,
      },
    ],
    entries: "common",
    variables: "shell",
    http: { addressField: "url", type: "http", headersField: "headers" },
    clientNames: ["copilot-cli"],
  },
  {
    id: "qwen",
    label: productOf("qwen-cli-mcp-client-*"),
    source: "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
    places: [
      {
        scope: "user",
        files: ["home:.qwen/settings.json"],
        variables: [qwenFolder],
        format: "jsonc",
        keyPath: ["mcpServers"],
        off: geminiOff(["home:.qwen/settings.json"], qwenFolder),
      },
      {
        scope: "project",
        files: ["project:.qwen/settings.json"],
        format: "jsonc",
        keyPath: ["mcpServers"],
        off: [...geminiOff(["project:.qwen/settings.json"]), ...geminiOff(["home:.qwen/settings.json"], qwenFolder)],
      },
    ],
    entries: "gemini",
    variables: "gemini",
    http: { addressField: "httpUrl", headersField: "headers" },
    clientNames: ["qwen-cli-mcp-client-*"],
  },
  {
    id: "kimi",
    label: productOf("kimi-code"),
    source: "https://www.npmjs.com/package/@moonshot-ai/kimi-code",
    places: [
      {
        scope: "user",
        files: ["home:.kimi-code/mcp.json"],
        variables: [{ name: "KIMI_CODE_HOME", within: "mcp.json" }],
        format: "json",
        keyPath: ["mcpServers"],
      },
      { scope: "project", files: ["project:.kimi-code/mcp.json"], format: "json", keyPath: ["mcpServers"] },
    ],
    entries: "kimi",
    variables: "none",
    http: { addressField: "url", headersField: "headers" },
    clientNames: ["kimi-code"],
  },
];

/** Every client whose settings we read, in the order in which they are shown. */
export const clientTable: readonly ClientRow[] = rows.map((row) => ({ ...row, ...clientHabits[row.id] }));

/** The row of a client. Undefined for a name that is none. */
export function findClient(id: string): ClientRow | undefined {
  return clientTable.find((row) => row.id === id);
}

/**
 * The client that gave this name in `clientInfo`. Undefined for a name that we do not know. A name of the table that
 * ends in `*` matches all that begin so.
 */
export function clientNamed(clientName: string): ClientId | undefined {
  return clientTable.find(({ clientNames }) => clientNames.some((name) => matchesPattern(name, clientName)))?.id;
}
