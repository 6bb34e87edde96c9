// Rebuilds the corpus `real_mcp` of bench/retrieval: starts each npm server of scripts/public-servers.mjs, asks it for
// its tools, and writes all of them to one file, one tool per line.
//   npm run bench:collect [-- slug ...]        into $BENCH_DATA/corpus/real_mcp.json, by default .cache/retrieval
//   npm run bench:collect -- --more [slug ...]     the servers that no question is about, but that have phrases in the
//                                              book, into $BENCH_DATA/corpus/more_mcp.json
//   npm run bench:collect -- --out FILE slug ...   into FILE; this is how test/servers/public-tools.json is made
// The servers run with made-up credentials: they list their tools, and no tool is called. A server that does not start
// is left out, with a line on stderr that names it.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { askedServers, moreServers } from "./public-servers.mjs";

const startTimeoutMs = 180_000;

const { values, positionals: chosen } = parseArgs({
  options: { out: { type: "string" }, more: { type: "boolean", default: false } },
  allowPositionals: true,
});
const corpus = values.more ? "more_mcp" : "real_mcp";
const file = values.out ?? join(process.env.BENCH_DATA ?? ".cache/retrieval", `corpus/${corpus}.json`);
const home = await madeUpHome();
const tools = [];
for (const [server, ...start] of values.more ? moreServers : askedServers) {
  if (chosen.length > 0 && !chosen.includes(server)) continue;
  try {
    const found = await listTools(server, ...start);
    tools.push(...found);
    console.error(`${server}: ${found.length} tools`);
  } catch (error) {
    console.error(`${server}: left out, ${error instanceof Error ? error.message : String(error)}`);
  }
}
await rm(home, { recursive: true, force: true });
await mkdir(dirname(file), { recursive: true });
const lines = tools.map((tool) => JSON.stringify(tool)).join(",\n");
await writeFile(file, `{ "name": "${corpus}", "tools": [\n${lines}\n] }\n`);
console.log(`${tools.length} tools in ${file}`);

async function listTools(server, name, args = [], variables = []) {
  const env = {
    ...getDefaultEnvironment(),
    HOME: home,
    ...Object.fromEntries(variables.map((variable) => toSetting(variable))),
  };
  const start = ["-y", name, ...args.map((arg) => arg.replace("{home}", home))];
  const transport = new StdioClientTransport({ command: "npx", args: start, env, stderr: "ignore" });
  const client = new Client({ name: "toolyard-bench", version: "1" });
  try {
    await client.connect(transport, { timeout: startTimeoutMs });
    const { title, name: serverName } = client.getServerVersion() ?? {};
    const about = { serverTitle: title ?? serverName, serverDescription: client.getInstructions() };
    const found = [];
    let cursor;
    do {
      const page = await client.listTools({ cursor }, { timeout: startTimeoutMs });
      found.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined && found.length < 10_000);
    return found.map((tool) => ({
      id: `${server}:${tool.name}`,
      server,
      ...about,
      name: tool.name,
      title: tool.title ?? tool.annotations?.title,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }));
  } finally {
    await client.close();
  }
}

function toSetting(variable) {
  const [name, ...value] = variable.split("=");
  if (value.length > 0) return [name, value.join("=").replace("{home}", home)];
  return [name, /URL/.test(name) ? "http://127.0.0.1:9" : "placeholder"];
}

/** A home folder with the files that some servers look for before they list anything. None of them opens anything. */
async function madeUpHome() {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-collect-"));
  const login = { client_id: "placeholder", client_secret: "placeholder", redirect_uris: ["http://127.0.0.1:9"] };
  const cluster = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "placeholder", cluster: { server: "http://127.0.0.1:9" } }],
    contexts: [{ name: "placeholder", context: { cluster: "placeholder", user: "placeholder" } }],
    users: [{ name: "placeholder", user: { token: "placeholder" } }],
    "current-context": "placeholder",
  };
  await mkdir(join(folder, ".gmail-mcp"));
  await writeFile(join(folder, "oauth.json"), JSON.stringify({ installed: login }));
  await writeFile(join(folder, ".gmail-mcp/gcp-oauth.keys.json"), JSON.stringify({ installed: login }));
  await writeFile(join(folder, "gdrive.json"), "{}");
  await writeFile(join(folder, "kubeconfig"), JSON.stringify(cluster));
  return folder;
}
