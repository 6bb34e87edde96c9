#!/usr/bin/env node
// Has the command lines that people use (Claude Code, Codex, Gemini CLI), from npm, connect to a gateway, and shows which tools each
// of them offers to its model. The model is a server of our own that refuses: no account is needed, nothing leaves the machine but
// what npm fetches. `npm run clients`; not part of the tests, because the packages are large and change every week.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { cachedPackage, projectDir } from "./conformance/cached-package.mjs";
import { startListening } from "./conformance/listening.mjs";
import { findNewerNode } from "./node24.mjs";

const gatewayTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
// Starting takes seconds; after it only what a client does without its model is waited for.
const clientTimeoutMs = 120_000;

/**
 * @typedef {object} Surroundings
 * @property {string} url the gateway's MCP endpoint
 * @property {string} model the origin of the model that refuses
 * @property {string} home an empty directory
 *
 * @typedef {object} Client
 * @property {string} name
 * @property {string} package
 * @property {string} command below node_modules/.bin
 * @property {(around: Surroundings) => Promise<{ args: string[], env: Record<string, string> }>} prepare
 */

/** @type {Client[]} */
const clients = [
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    command: "claude",
    async prepare({ url, model, home }) {
      const config = join(home, "mcp.json");
      await writeFile(config, JSON.stringify({ mcpServers: { toolyard: { type: "http", url } } }));
      const output = ["--output-format", "stream-json", "--verbose"];
      return {
        args: ["-p", "Say hello", "--mcp-config", config, "--strict-mcp-config", ...output],
        env: {
          ANTHROPIC_API_KEY: "none",
          ANTHROPIC_BASE_URL: model,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
      };
    },
  },
  {
    name: "Codex",
    package: "@openai/codex",
    command: "codex",
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
        "[mcp_servers.toolyard]",
        `url = "${url}"`,
      ];
      await writeFile(join(home, "config.toml"), `${settings.join("\n")}\n`);
      return {
        args: ["exec", "--skip-git-repo-check", "Say hello"],
        env: { CODEX_HOME: home, LOCAL_KEY: "none" },
      };
    },
  },
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    command: "gemini",
    async prepare({ url, model, home }) {
      const settings = {
        mcpServers: { toolyard: { httpUrl: url, trust: true } },
        security: {
          auth: { selectedType: "gemini-api-key" },
          folderTrust: { enabled: false },
        },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true },
      };
      await mkdir(join(home, ".gemini"), { recursive: true });
      await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
      return {
        args: ["-p", "Say hello", "--skip-trust"],
        env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model },
      };
    },
  },
];

const { values: flags } = parseArgs({
  options: {
    client: { type: "string", multiple: true },
    verbose: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (flags.help) {
  const names = clients.map(({ command }) => command).join(", ");
  process.stdout.write(
    `usage: node scripts/clients.mjs [--client NAME ...] [--verbose]\n\n  --client NAME   only this one; may be repeated: ${names}\n  --verbose       also what the clients print\n`,
  );
} else process.exitCode = await main();

async function main() {
  const wanted = clients.filter(({ command }) => flags.client?.includes(command) ?? true);
  const directory = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
  const gateway = await startGateway(directory);
  const front = await recordingProxy(gateway.url);
  const model = await refusingModel();
  try {
    const rows = [];
    for (const client of wanted) rows.push(await tryClient(client, { directory, front, model }));
    process.stdout.write(
      `${["| client | version | speaks | tools listed | tools offered to its model |", "| --- | --- | --- | --- | --- |", ...rows.map(({ cells }) => `| ${cells.join(" | ")} |`)].join("\n")}\n`,
    );
    return rows.every(({ passed }) => passed) ? 0 : 1;
  } finally {
    await gateway.stop();
    front.close();
    model.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function startGateway(directory) {
  const config = join(directory, "toolyard.json");
  const bad = {
    command: process.execPath,
    args: [join(projectDir, "test/servers/bad-server.mjs")],
  };
  await writeFile(config, JSON.stringify({ mcpServers: { bad } }));
  const entry = join(projectDir, "dist/cli/main.js");
  const dataDir = join(directory, "data");
  return await startListening([entry, "serve", "--config", config, "--port", "0", "--data-dir", dataDir]);
}

async function tryClient(client, { directory, front, model }) {
  const home = join(directory, client.command);
  await mkdir(home);
  front.forget();
  model.forget();
  const version = await install(client);
  if (version === undefined)
    return {
      passed: false,
      cells: [client.name, "npm could not install it", "-", "-", "-"],
    };
  const { args, env } = await client.prepare({
    url: `${front.url}/mcp`,
    model: model.url,
    home,
  });
  const isDone = () => model.tools().length > 0;
  await run(client, args, { ...env, HOME: home }, { cwd: home, isDone });
  const { revision, listed } = front.seen();
  const offered = gatewayTools.filter((name) => model.tools().some((tool) => tool.includes(name)));
  const showOffered = model.tools().length === 0 ? "its model was not asked" : offered.join(", ");
  return {
    passed: gatewayTools.every((name) => listed.includes(name)),
    cells: [client.name, version, revision ?? "did not connect", listed.join(", ") || "none", showOffered],
  };
}

function folderOf({ command }) {
  return `client-${command}`;
}

async function install(client) {
  const manifest = join("node_modules", ...client.package.split("/"), "package.json");
  try {
    const path = await cachedPackage(folderOf(client), client.package, manifest);
    const { default: described } = await import(path, {
      with: { type: "json" },
    });
    return described.version;
  } catch (error) {
    process.stderr.write(`${client.package}: ${error.message}\n`);
    return undefined;
  }
}

/** Runs the client until it ends, has shown its tools to its model, or has taken too long. */
async function run(client, args, env, { cwd, isDone }) {
  const node = await findNewerNode();
  const command = join(projectDir, ".cache", folderOf(client), "node_modules", ".bin", client.command);
  const child = spawn(command, args, {
    cwd,
    env: {
      ...env,
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      TERM: "dumb",
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      if (flags.verbose) process.stderr.write(chunk);
    });
  }
  const stop = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  const deadline = setTimeout(stop, clientTimeoutMs);
  const watch = setInterval(() => {
    if (isDone()) stop();
  }, 200);
  await new Promise((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`${client.name}: ${error.message}\n`);
      resolve(undefined);
    });
    child.once("exit", resolve);
  });
  clearTimeout(deadline);
  clearInterval(watch);
  stop();
}

/** Passes everything to the gateway, and notes which revision was spoken and which tools were listed. */
async function recordingProxy(target) {
  let seen = { revision: undefined, listed: [] };
  const server = await listen(async (request, response) => {
    const body = await readBody(request);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (!["host", "connection", "content-length", "transfer-encoding", "expect"].includes(name))
        headers.set(name, String(value));
    }
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answer = await fetch(new URL(request.url, target), {
      method: request.method,
      headers,
      ...(body.length > 0 && { body }),
      signal: gone.signal,
    });
    const kept = [...answer.headers].filter(
      ([name]) => !["content-length", "connection", "transfer-encoding"].includes(name),
    );
    response.writeHead(answer.status, Object.fromEntries(kept));
    response.flushHeaders();
    let text = "";
    for await (const chunk of answer.body ?? []) {
      response.write(chunk);
      text += Buffer.from(chunk).toString();
    }
    response.end();
    note(body.toString(), text, request.headers);
  });

  function note(body, text, headers) {
    const message = parse(body);
    if (message?.method === "initialize") seen.revision ??= /"protocolVersion":"([^"]+)"/.exec(text)?.[1];
    if (message?.method !== "tools/list") return;
    seen.revision ??= headers["mcp-protocol-version"];
    seen.listed = gatewayTools.filter((name) => text.includes(`"${name}"`));
  }

  return {
    ...server,
    seen: () => seen,
    forget: () => (seen = { revision: undefined, listed: [] }),
  };
}

/** Takes any request for a model, notes the names of the tools in it, and refuses. */
async function refusingModel() {
  let tools = [];
  const server = await listen(async (request, response) => {
    const asked = parse((await readBody(request)).toString());
    tools.push(...toolNames(asked?.tools));
    response.writeHead(400, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        type: "error",
        error: {
          type: "invalid_request_error",
          code: 400,
          message: "there is no model here",
          status: "INVALID_ARGUMENT",
        },
      }),
    );
  });
  return { ...server, tools: () => tools, forget: () => (tools = []) };
}

/** Each of the three writes its tools differently. */
function toolNames(tools) {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => [
    ...(typeof tool.name === "string" ? [tool.name] : []),
    ...toolNames(tool.tools),
    ...toolNames(tool.functionDeclarations),
  ]);
}

async function listen(serve) {
  const http = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", () => resolve(undefined)));
  return {
    url: `http://127.0.0.1:${http.address().port}`,
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
