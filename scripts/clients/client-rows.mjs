// The command-line clients that are tried, one row each: where npm has them, which files and variables tell them about
// a model of ours and about MCP servers, and how they are asked for one thing without a person at the keyboard. Each
// has its default settings and permissions; what a user has to add so that a call runs is `allow`.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const prompt = "Find a tool and call it.";

/**
 * @typedef {{ url: string } | { command: string, args: string[] }} Server as an MCP server is reached
 *
 * @typedef {object} Surroundings
 * @property {string} model the origin of the model
 * @property {string} home an empty directory
 * @property {Record<string, Server>} [servers] what its user has beside the gateway
 *
 * @typedef {object} Prepared
 * @property {Record<string, unknown>} files by their path below `home`: a text, or what becomes JSON
 * @property {string[]} args
 * @property {Record<string, string>} env
 *
 * @typedef {object} TeamLogin
 * @property {string[]} login its command
 * @property {boolean} [needsTerminal] whether it logs in on a terminal only
 * @property {string[]} list its command that shows its servers
 * @property {string} kept below its home: where its tokens are, as JSON
 * @property {RegExp} says what it prints when it needs a login
 *
 * @typedef {object} Client
 * @property {string} name
 * @property {string} package
 * @property {string} command below node_modules/.bin
 * @property {string} id as `toolyard connect` knows it
 * @property {string} setup how it is made to talk to a model without an account
 * @property {string} [needs] what its user has to do or to know, because nothing that the gateway says changes it
 * @property {{ args: string[], told: string, also?: "offered" }} [allow] what lets it call our tools without a person:
 *   with `also`, they are not even offered without. Undefined where its defaults do
 * @property {true} [transcript] whether what its model read and wrote becomes a page
 * @property {TeamLogin} [team] how it logs in where people have to
 * @property {(around: Required<Surroundings>) => Prepared} settings
 */

const mcpServers = (servers, toEntry) => ({
  mcpServers: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, toEntry(server)])),
});
const withType = (type) => (server) => ("url" in server ? { type, url: server.url } : server);
/** Gemini CLI and what was made of it. */
const withHttpUrl = (server) => ("url" in server ? { httpUrl: server.url } : server);
const quietGemini = {
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { disableAutoUpdate: true },
};

function codex({ name, model, ...more }) {
  return {
    name,
    package: "@openai/codex",
    command: "codex",
    id: "codex",
    setup: `a \`model_providers\` entry with \`wire_api = "responses"\`, \`model = "${model}"\``,
    allow: {
      args: ["-c", 'mcp_servers.toolyard.default_tools_approval_mode="approve"'],
      told: '`default_tools_approval_mode = "approve"` in its entry',
    },
    ...more,
    settings({ model: origin, home, servers }) {
      const settings = [
        `model = "${model}"`,
        'model_provider = "local"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[model_providers.local]",
        'name = "local"',
        `base_url = "${origin}/v1"`,
        'wire_api = "responses"',
        'env_key = "LOCAL_KEY"',
        "request_max_retries = 0",
        "stream_max_retries = 0",
        ...Object.entries(servers).flatMap(([server, entry]) => [
          `[mcp_servers.${server}]`,
          ...Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
        ]),
      ];
      return {
        files: { "config.toml": `${settings.join("\n")}\n` },
        args: ["exec", "--skip-git-repo-check", prompt],
        env: { CODEX_HOME: home, LOCAL_KEY: "none" },
      };
    },
  };
}

/** @type {Client[]} */
export const clients = [
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    command: "claude",
    id: "claude-code",
    setup: "`ANTHROPIC_BASE_URL`, `ENABLE_TOOL_SEARCH=true`",
    allow: {
      args: ["--allowedTools", "mcp__toolyard"],
      told: '`--allowedTools mcp__toolyard`, or `"allow": ["mcp__toolyard"]` in its settings',
    },
    transcript: true,
    team: {
      login: ["mcp", "login", "toolyard"],
      needsTerminal: true,
      list: ["mcp", "list"],
      kept: ".claude/.credentials.json",
      says: /Needs authentication/,
    },
    settings: ({ model, servers }) => ({
      files: { ".claude.json": mcpServers(servers, withType("http")) },
      args: ["-p", prompt],
      env: {
        ANTHROPIC_API_KEY: "none",
        ANTHROPIC_BASE_URL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        // The default at its maker's own address; said here, because another address switches it off.
        ENABLE_TOOL_SEARCH: "true",
      },
    }),
  },
  codex({
    name: "Codex",
    model: "none",
    team: {
      login: ["mcp", "login", "toolyard"],
      list: ["mcp", "list"],
      kept: ".credentials.json",
      says: /AuthRequired/,
    },
  }),
  // One that searches its tools, and one that calls them from code: all that it lists are of these two kinds.
  codex({ name: "Codex with gpt-5.5", model: "gpt-5.5" }),
  codex({ name: "Codex with gpt-6.2-sol", model: "gpt-6.2-sol", transcript: true }),
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    command: "gemini",
    id: "gemini",
    setup: "`GOOGLE_GEMINI_BASE_URL`",
    allow: { args: ["--yolo"], told: '`--yolo`, or `"trust": true` in its entry', also: "offered" },
    settings: ({ model, servers }) => ({
      files: {
        ".gemini/settings.json": {
          ...mcpServers(servers, withHttpUrl),
          security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
          ...quietGemini,
        },
      },
      // A model by name: otherwise another model is asked first which one to take.
      args: ["-p", prompt, "--skip-trust", "-m", "gemini-2.5-pro"],
      env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model },
    }),
  },
  {
    name: "opencode",
    package: "opencode-ai",
    command: "opencode",
    id: "opencode",
    setup: "a provider of `@ai-sdk/openai-compatible`",
    team: {
      login: ["mcp", "auth", "toolyard"],
      list: ["mcp", "list"],
      kept: ".local/share/opencode/mcp-auth.json",
      says: /needs authentication/i,
    },
    settings: ({ model, servers }) => ({
      files: {
        ".config/opencode/opencode.json": {
          autoupdate: false,
          share: "disabled",
          model: "local/none",
          small_model: "local/none",
          provider: {
            local: {
              // One that opencode carries itself: others it would fetch from npm at its first request.
              npm: "@ai-sdk/openai-compatible",
              name: "local",
              options: { baseURL: `${model}/v1`, apiKey: "none" },
              models: { none: { name: "none", tool_call: true, limit: { context: 200_000, output: 8_000 } } },
            },
          },
          mcp: Object.fromEntries(
            Object.entries(servers).map(([name, server]) => [
              name,
              "url" in server
                ? { type: "remote", url: server.url, enabled: true, oauth: false }
                : { type: "local", command: [server.command, ...server.args], enabled: true },
            ]),
          ),
        },
      },
      args: ["run", "--print-logs", "--log-level", "WARN", prompt],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      },
    }),
  },
  {
    name: "Qwen Code",
    package: "@qwen-code/qwen-code",
    command: "qwen",
    id: "qwen",
    setup: "`OPENAI_BASE_URL`",
    needs:
      'hides all MCP tools behind a search of its own, and nothing that a server says changes that: its `mcpServers` entry needs `"alwaysLoadTools": true`. It has a `read_mcp_resource` of its own, hidden in the same way, but no tool that lists resources, so both of ours stay.',
    allow: { args: ["--allowed-tools", "mcp__toolyard"], told: "`--allowed-tools mcp__toolyard`" },
    settings: ({ model, servers }) => ({
      files: {
        ".qwen/settings.json": {
          ...mcpServers(servers, withHttpUrl),
          security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
          ...quietGemini,
        },
      },
      args: ["-p", prompt, "--auth-type", "openai", "-m", "none"],
      env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: "none" },
    }),
  },
  {
    name: "Copilot CLI",
    package: "@github/copilot",
    command: "copilot",
    id: "copilot",
    setup:
      "`COPILOT_PROVIDER_BASE_URL` (a model provider of one's own; no login at GitHub), with a model that can search",
    needs:
      'hides all MCP tools from models that can search where there are many: its entry needs `"deferTools": "never"`.',
    allow: { args: ["--allow-tool", "toolyard"], told: "`--allow-tool toolyard`" },
    settings: ({ model, home, servers }) => ({
      files: {
        ".copilot/mcp-config.json": mcpServers(servers, (server) => ({
          ...("url" in server ? { type: "http", url: server.url } : { type: "local", ...server }),
          tools: ["*"],
        })),
      },
      args: ["-p", prompt, "--no-color", "--no-auto-update", "--disable-builtin-mcps", "--log-level", "none"],
      // A model provider of one's own needs no login at GitHub (`copilot help providers`).
      env: {
        COPILOT_HOME: join(home, ".copilot"),
        COPILOT_PROVIDER_TYPE: "anthropic",
        COPILOT_PROVIDER_BASE_URL: model,
        COPILOT_PROVIDER_API_KEY: "none",
        COPILOT_MODEL: "claude-sonnet-4.5",
      },
    }),
  },
  {
    name: "Kimi Code",
    package: "@moonshot-ai/kimi-code",
    command: "kimi",
    id: "kimi",
    setup: "`KIMI_MODEL_BASE_URL`",
    settings: ({ model, home, servers }) => ({
      files: {
        ".kimi-code/config.toml": "telemetry = false\n",
        ".kimi-code/mcp.json": mcpServers(servers, (server) =>
          "url" in server ? { transport: "http", url: server.url } : server,
        ),
      },
      args: ["-p", prompt],
      env: {
        KIMI_CODE_HOME: join(home, ".kimi-code"),
        KIMI_CODE_NO_AUTO_UPDATE: "1",
        KIMI_MODEL_NAME: "none",
        KIMI_MODEL_PROVIDER_TYPE: "openai",
        KIMI_MODEL_BASE_URL: `${model}/v1`,
        KIMI_MODEL_API_KEY: "none",
      },
    }),
  },
  {
    name: "Cline CLI",
    package: "cline",
    command: "cline",
    id: "cline",
    setup: "a provider `openai-compatible` in its `providers.json`",
    settings: ({ model, servers }) => ({
      files: {
        ".cline/data/settings/cline_mcp_settings.json": mcpServers(servers, withType("streamableHttp")),
        ".cline/data/settings/providers.json": {
          version: 1,
          lastUsedProvider: "openai-compatible",
          modes: {},
          providers: {
            "openai-compatible": {
              settings: {
                provider: "openai-compatible",
                apiKey: "none",
                model: "none",
                baseUrl: `${model}/v1`,
              },
              updatedAt: "2026-01-01T00:00:00.000Z",
              tokenSource: "manual",
            },
          },
        },
      },
      args: ["-P", "openai-compatible", "-m", "none", prompt],
      env: { CLINE_TELEMETRY_DISABLED: "1", POSTHOG_DISABLED: "1" },
    }),
  },
  {
    name: "Continue CLI",
    package: "@continuedev/cli",
    command: "cn",
    id: "continue",
    setup: "a model with `apiBase` in its `config.yaml`",
    settings: ({ model, servers }) => ({
      files: {
        // JSON is YAML.
        ".continue/config.yaml": {
          name: "local",
          version: "1.0.0",
          schema: "v1",
          models: [
            {
              name: "none",
              provider: "openai",
              model: "none",
              apiBase: `${model}/v1`,
              apiKey: "none",
              roles: ["chat"],
              capabilities: ["tool_use"],
            },
          ],
          mcpServers: Object.entries(servers).map(([name, server]) => ({
            name,
            ...withType("streamable-http")(server),
          })),
        },
      },
      args: ["-p", prompt],
      env: { CONTINUE_CLI_ENABLE_TELEMETRY: "0", CONTINUE_TELEMETRY_ENABLED: "0" },
    }),
  },
];

/**
 * Writes the client's files.
 * @param {Client} client
 * @param {Surroundings} around
 * @returns {Promise<{ args: string[], env: Record<string, string> }>} how it is run
 */
export async function prepareClient(client, { servers = {}, ...around }) {
  const { files, args, env } = client.settings({ servers, ...around });
  for (const [path, content] of Object.entries(files)) {
    const file = join(around.home, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === "string" ? content : `${JSON.stringify(content, undefined, 2)}\n`);
  }
  return { args, env: { HOME: around.home, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", ...env } };
}
