// The command-line clients that are tried: where npm has them, and how each is told about the gateway and about a
// model of our own. Every one of them is asked for one thing without a person at the keyboard, so each is allowed to
// use all tools: the model is a script.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const prompt = "Find a tool and call it.";

/**
 * @typedef {object} Surroundings
 * @property {string} [url] the gateway's MCP endpoint. Without it, the client is told by somebody else where that is
 * @property {string} model the origin of the model
 * @property {string} home an empty directory
 *
 * @typedef {object} TeamLogin
 * @property {string} id as `toolyard connect` knows it
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
 * @property {string} setup how it is made to talk to a model without an account
 * @property {string} [needs] what its user has to do or to know, because nothing that the gateway says changes it
 * @property {TeamLogin} [team] how it logs in where people have to
 * @property {(around: Surroundings) => Promise<{ args: string[], env: Record<string, string> }>} prepare
 */

/** @type {Client[]} */
export const clients = [
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    command: "claude",
    setup: "`ANTHROPIC_BASE_URL`, `ENABLE_TOOL_SEARCH=true`",
    team: {
      id: "claude-code",
      login: ["mcp", "login", "toolyard"],
      needsTerminal: true,
      list: ["mcp", "list"],
      kept: ".claude/.credentials.json",
      says: /Needs authentication/,
    },
    async prepare({ url, model, home }) {
      const config = join(home, "mcp.json");
      if (url !== undefined)
        await writeFile(config, JSON.stringify({ mcpServers: { toolyard: { type: "http", url } } }));
      const servers = url === undefined ? [] : ["--mcp-config", config, "--strict-mcp-config"];
      return {
        args: ["-p", prompt, ...servers, "--allowedTools", "mcp__toolyard"],
        env: {
          ANTHROPIC_API_KEY: "none",
          ANTHROPIC_BASE_URL: model,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
          // The default; said here, so that what hides the tools is what is tried.
          ENABLE_TOOL_SEARCH: "true",
        },
      };
    },
  },
  {
    name: "Codex",
    package: "@openai/codex",
    command: "codex",
    setup: 'a `model_providers` entry with `wire_api = "responses"`',
    team: {
      id: "codex",
      login: ["mcp", "login", "toolyard"],
      list: ["mcp", "list"],
      kept: ".credentials.json",
      says: /AuthRequired/,
    },
    async prepare({ url, model, home }) {
      const settings = [
        'model = "none"',
        'model_provider = "local"',
        "[model_providers.local]",
        'name = "local"',
        `base_url = "${model}/v1"`,
        'wire_api = "responses"',
        'env_key = "LOCAL_KEY"',
        "request_max_retries = 0",
        "stream_max_retries = 0",
        ...(url === undefined ? [] : ["[mcp_servers.toolyard]", `url = "${url}"`]),
      ];
      await writeFile(join(home, "config.toml"), `${settings.join("\n")}\n`);
      return {
        args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
        env: { CODEX_HOME: home, LOCAL_KEY: "none" },
      };
    },
  },
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    command: "gemini",
    setup: "`GOOGLE_GEMINI_BASE_URL`",
    async prepare({ url, model, home }) {
      await writeSettings(join(home, ".gemini"), {
        ...(url === undefined ? {} : { mcpServers: { toolyard: { httpUrl: url, trust: true } } }),
        security: {
          auth: { selectedType: "gemini-api-key" },
          folderTrust: { enabled: false },
        },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true },
      });
      return {
        // A model by name: otherwise another model is asked first which one to take.
        args: ["-p", prompt, "--skip-trust", "--yolo", "-m", "gemini-2.5-pro"],
        env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model },
      };
    },
  },
  {
    name: "opencode",
    package: "opencode-ai",
    command: "opencode",
    setup: "a provider of `@ai-sdk/openai-compatible`",
    team: {
      id: "opencode",
      login: ["mcp", "auth", "toolyard"],
      list: ["mcp", "list"],
      kept: ".local/share/opencode/mcp-auth.json",
      says: /needs authentication/i,
    },
    async prepare({ url, model, home }) {
      const config = join(home, "opencode.json");
      const settings = {
        autoupdate: false,
        share: "disabled",
        permission: "allow",
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
        ...(url === undefined ? {} : { mcp: { toolyard: { type: "remote", url, enabled: true, oauth: false } } }),
      };
      await writeFile(config, JSON.stringify(settings));
      return {
        args: ["run", "--print-logs", "--log-level", "WARN", prompt],
        env: {
          OPENCODE_CONFIG: config,
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        },
      };
    },
  },
  {
    name: "Qwen Code",
    package: "@qwen-code/qwen-code",
    command: "qwen",
    setup: "`OPENAI_BASE_URL`",
    needs:
      'hides all MCP tools behind a search of its own, and nothing that a server says changes that: its `mcpServers` entry needs `"alwaysLoadTools": true`. It has a `read_mcp_resource` of its own, hidden in the same way, but no tool that lists resources, so both of ours stay.',
    async prepare({ url, model, home }) {
      await writeSettings(join(home, ".qwen"), {
        mcpServers: { toolyard: { httpUrl: url, trust: true, alwaysLoadTools: true } },
        security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true },
      });
      return {
        args: ["-p", prompt, "--yolo", "--auth-type", "openai", "-m", "none"],
        env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: "none" },
      };
    },
  },
  {
    name: "Copilot CLI",
    package: "@github/copilot",
    command: "copilot",
    setup: "`COPILOT_PROVIDER_BASE_URL` (a model provider of one's own; no login at GitHub)",
    async prepare({ url, model, home }) {
      const servers = { mcpServers: { toolyard: { type: "http", url, tools: ["*"] } } };
      const quiet = ["--no-color", "--no-auto-update", "--disable-builtin-mcps", "--log-level", "none"];
      return {
        args: ["-p", prompt, "--allow-all-tools", "--additional-mcp-config", JSON.stringify(servers), ...quiet],
        // A model provider of one's own needs no login at GitHub (`copilot help providers`).
        env: {
          COPILOT_HOME: join(home, ".copilot"),
          COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
          COPILOT_PROVIDER_API_KEY: "none",
          COPILOT_MODEL: "none",
        },
      };
    },
  },
];

async function writeSettings(directory, settings) {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "settings.json"), JSON.stringify(settings));
}
