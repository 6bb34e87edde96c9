// What a user does with the package on one Node: installs it into an empty folder, asks for its version, serves a real
// server, and connects a client of the official SDK.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { env } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { diskBytes, installedPackages } from "./limits.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
/** A start takes a second; this only keeps a broken one from holding the run for ever. */
const startTimeoutMs = 60_000;
/** About the machine's own npm settings, not about the package. */
const ownSettings = /^npm warn Unknown (?:user|project|builtin|env|global|cli) config .*$/;

/** The npm that belongs to this machine: it runs on every Node that we try. */
function findNpm() {
  const [command] = (env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "npm"))
    .filter((path) => existsSync(path));
  if (command === undefined) throw new Error("npm is not in PATH");
  return join(dirname(realpathSync(command)), "npm-cli.js");
}

/** A folder in which the tarball was installed with this Node, and what npm printed. */
export async function installPackage({ node, tarball, folder }) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"name":"empty","private":true}');
  const surroundings = { ...env, PATH: `${dirname(node)}${delimiter}${env.PATH}` };
  // What npm was told for this repository, or by the npm that runs this script, is not what a user has told it.
  for (const name of Object.keys(surroundings))
    if (/^npm_(?!config_(?:registry|cache)$)/i.test(name)) delete surroundings[name];
  const npm = findNpm();
  const args = ["install", "--no-audit", "--no-fund", tarball];
  const { stderr } = await run(node, [npm, ...args], { cwd: folder, env: surroundings });
  return {
    node,
    npm,
    folder,
    env: surroundings,
    warnings: stderr.split("\n").filter((line) => line.trim() !== "" && !ownSettings.test(line)),
    packages: installedPackages(join(folder, "package-lock.json")),
    bytes: diskBytes(join(folder, "node_modules")),
  };
}

/** `npx toolyard ...` in that folder. */
async function npx({ node, npm, folder, env: surroundings }, args) {
  const { stdout } = await run(node, [npm, "exec", "--no", "--", "toolyard", ...args], {
    cwd: folder,
    env: surroundings,
  });
  return stdout;
}

/** Has the installed gateway do what it is for. Returns one sentence for each thing that is not as it should be. */
export async function usePackage(installation, version) {
  const { node, folder } = installation;
  const problems = [];
  const said = (await npx(installation, ["--version"])).trim();
  if (!said.includes(version)) problems.push(`npx toolyard --version says ${said}`);
  const config = join(folder, "toolyard.json");
  writeFileSync(config, JSON.stringify({ mcpServers: { everything: { command: node, args: [everything, "stdio"] } } }));
  const places = ["--config", config, "--data-dir", join(folder, "data")];
  const gateway = await startGateway(installation, places);
  try {
    problems.push(...(await askPaths(gateway.url)), ...(await callThrough(gateway.url)));
    problems.push(...(await findRecord(installation, gateway.url, places)));
  } finally {
    const code = await gateway.stop();
    if (code !== 0) problems.push(`the gateway ended with ${code}:\n${gateway.text()}`);
  }
  return problems;
}

async function startGateway({ node, folder, env: surroundings }, places) {
  const main = join(folder, "node_modules/toolyard/dist/cli/main.js");
  const child = spawn(node, [main, "serve", ...places, "--port", "0"], { cwd: folder, env: surroundings });
  let text = "";
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the gateway does not listen:\n${text}`)), startTimeoutMs);
    const read = (chunk) => {
      text += chunk;
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`the gateway did not start:\n${text}`)));
  }).catch((error) => {
    child.kill("SIGKILL");
    throw error;
  });
  const stop = async () => {
    if (child.exitCode !== null) return child.exitCode;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    const [code, signal] = await gone;
    return code ?? signal;
  };
  return { url, stop, text: () => text };
}

/** Reads from every part that is loaded late and needs no server: what is missing in the package shows itself. */
async function askPaths(url) {
  const problems = [];
  for (const path of ["/", "/openapi.json", "/documentation", "/metrics", "/api/tools?query=x", "/api/status"]) {
    const response = await fetch(url + path);
    await response.arrayBuffer();
    if (response.status !== 200) problems.push(`GET ${path} is answered with ${response.status}`);
  }
  return problems;
}

async function callThrough(url) {
  // A busy machine needs longer to start the server than a search waits for it.
  await fetch(`${url}/api/unlisted-servers?wait=30`);
  const client = new Client({ name: "package-check", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url)));
  try {
    const found = await client.callTool({ name: "discover_mcp_tools", arguments: { query: "add two numbers" } });
    if (!JSON.stringify(found).includes("everything:get-sum"))
      return [`get-sum is not found: ${JSON.stringify(found)}`];
    const sum = { tool_path: "everything:get-sum", arguments: { a: 2, b: 40 } };
    const result = await client.callTool({ name: "execute_mcp_tool", arguments: sum });
    return JSON.stringify(result.content).includes("42") ? [] : [`get-sum answers ${JSON.stringify(result)}`];
  } finally {
    await client.close();
  }
}

/** Records are on without another step: the call stands in them, and no Node lacks the SQLite for it. */
async function findRecord(installation, url, places) {
  const { status, text } = await untilRecorded(url);
  if (status !== 200 || !text.includes("get-sum")) return [`the call is not recorded: ${status} ${text}`];
  const listed = await npx(installation, ["calls", "--json", ...places]);
  if (!listed.includes("get-sum")) return [`toolyard calls does not list the call: ${listed}`];
  const data = join(installation.folder, "data");
  const unpacked = existsSync(join(data, "sqlite")) ? readdirSync(join(data, "sqlite")) : [];
  const hasOwn = !(await run(installation.node, ["--version"])).stdout.startsWith("v20.");
  if (hasOwn === unpacked.length > 0) return [`unpacked binaries of SQLite: ${unpacked.join(", ") || "none"}`];
  return [];
}

/** Rows are written within moments, not with the call. */
async function untilRecorded(url) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${url}/api/calls`);
    const text = await response.text();
    if (text.includes("get-sum") || attempt === 100) return { status: response.status, text };
    await delay(100);
  }
}
