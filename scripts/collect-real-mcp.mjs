// Rebuilds the corpus `real_mcp` of bench/retrieval: starts each npm server below, asks it for its tools, and writes
// all of them to one file, one tool per line.
//   npm run bench:collect [-- slug ...]        into $BENCH_DATA/corpus/real_mcp.json, by default .cache/retrieval
//   npm run bench:collect -- --out FILE slug ...   into FILE; this is how test/servers/public-tools.json is made
// The servers run with made-up credentials: they list their tools, and no tool is called. A server that does not start
// is left out, with a line on stderr that names it.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const startTimeoutMs = 180_000;

/**
 * slug, npm package, arguments, variables that must be set before the server lists its tools
 * @type {[string, string, string[]?, string[]?][]}
 */
const servers = [
  ["airbnb", "@openbnb/mcp-server-airbnb"],
  ["airtable", "airtable-mcp-server", [], ["AIRTABLE_API_KEY"]],
  ["antv-chart", "@antv/mcp-server-chart"],
  ["azure", "@azure/mcp", ["server", "start"]],
  ["brave-search", "@brave/brave-search-mcp-server", [], ["BRAVE_API_KEY"]],
  ["browserbase", "@browserbasehq/mcp", [], ["BROWSERBASE_API_KEY", "BROWSERBASE_PROJECT_ID", "GEMINI_API_KEY"]],
  ["chrome-devtools", "chrome-devtools-mcp"],
  ["circleci", "@circleci/mcp-server-circleci", [], ["CIRCLECI_TOKEN"]],
  ["cloudflare", "@cloudflare/mcp-server-cloudflare", ["run", "account"], ["CLOUDFLARE_API_TOKEN"]],
  ["context7", "@upstash/context7-mcp"],
  ["digitalocean", "@digitalocean/mcp", [], ["DIGITALOCEAN_API_TOKEN"]],
  ["elasticsearch", "@elastic/mcp-server-elasticsearch", [], ["ES_URL", "ES_API_KEY"]],
  ["everything", "@modelcontextprotocol/server-everything"],
  ["exa", "exa-mcp-server", [], ["EXA_API_KEY"]],
  ["excel", "@negokaz/excel-mcp-server"],
  ["executeautomation-playwright", "@executeautomation/playwright-mcp-server"],
  ["figma", "figma-developer-mcp", ["--stdio"], ["FIGMA_API_KEY"]],
  ["filesystem", "@modelcontextprotocol/server-filesystem", ["."]],
  ["firecrawl", "firecrawl-mcp", [], ["FIRECRAWL_API_KEY"]],
  ["git", "@cyanheads/git-mcp-server"],
  ["github", "@modelcontextprotocol/server-github", [], ["GITHUB_PERSONAL_ACCESS_TOKEN"]],
  ["gitlab", "@modelcontextprotocol/server-gitlab", [], ["GITLAB_PERSONAL_ACCESS_TOKEN"]],
  ["gitlab-community", "@zereight/mcp-gitlab", [], ["GITLAB_PERSONAL_ACCESS_TOKEN"]],
  ["google-maps", "@modelcontextprotocol/server-google-maps", [], ["GOOGLE_MAPS_API_KEY"]],
  ["hubspot", "@hubspot/mcp-server", [], ["PRIVATE_APP_ACCESS_TOKEN"]],
  [
    "jira",
    "@aashari/mcp-server-atlassian-jira",
    [],
    ["ATLASSIAN_SITE_NAME", "ATLASSIAN_USER_EMAIL", "ATLASSIAN_API_TOKEN"],
  ],
  ["kubernetes", "mcp-server-kubernetes"],
  ["lark", "@larksuiteoapi/lark-mcp", ["mcp", "-a", "placeholder", "-s", "placeholder"]],
  ["mapbox", "@mapbox/mcp-server", [], ["MAPBOX_ACCESS_TOKEN"]],
  ["memory", "@modelcontextprotocol/server-memory"],
  ["mobile", "@mobilenext/mobile-mcp"],
  ["mongodb", "mongodb-mcp-server"],
  ["n8n", "n8n-mcp", [], ["N8N_API_URL", "N8N_API_KEY"]],
  ["neon", "@neondatabase/mcp-server-neon", ["start", "placeholder"]],
  ["notion", "@notionhq/notion-mcp-server", [], ["NOTION_TOKEN"]],
  ["pinecone", "@pinecone-database/mcp", [], ["PINECONE_API_KEY"]],
  ["playwright", "@playwright/mcp"],
  ["postgres", "@modelcontextprotocol/server-postgres", ["postgresql://localhost/placeholder"]],
  ["postman", "@postman/postman-mcp-server", ["--full"], ["POSTMAN_API_KEY"]],
  ["puppeteer", "@modelcontextprotocol/server-puppeteer"],
  ["sentry", "@sentry/mcp-server", [], ["SENTRY_ACCESS_TOKEN"]],
  ["sequential-thinking", "@modelcontextprotocol/server-sequential-thinking"],
  ["slack", "@modelcontextprotocol/server-slack", [], ["SLACK_BOT_TOKEN", "SLACK_TEAM_ID"]],
  ["task-master", "task-master-ai"],
  ["taskmanager", "@kazuph/mcp-taskmanager"],
  ["tavily", "tavily-mcp", [], ["TAVILY_API_KEY"]],
  ["trello", "@delorenj/mcp-server-trello", [], ["TRELLO_API_KEY", "TRELLO_TOKEN"]],
  ["xcodebuild", "xcodebuildmcp", ["mcp"]],
  ["xero", "@xeroapi/xero-mcp-server", [], ["XERO_CLIENT_ID", "XERO_CLIENT_SECRET"]],
];

const { values, positionals: chosen } = parseArgs({ options: { out: { type: "string" } }, allowPositionals: true });
const file = values.out ?? join(process.env.BENCH_DATA ?? ".cache/retrieval", "corpus/real_mcp.json");
const tools = [];
for (const [server, ...start] of servers) {
  if (chosen.length > 0 && !chosen.includes(server)) continue;
  try {
    const found = await listTools(server, ...start);
    tools.push(...found);
    console.error(`${server}: ${found.length} tools`);
  } catch (error) {
    console.error(`${server}: left out, ${error instanceof Error ? error.message : String(error)}`);
  }
}
await mkdir(dirname(file), { recursive: true });
const lines = tools.map((tool) => JSON.stringify(tool)).join(",\n");
await writeFile(file, `{ "name": "real_mcp", "tools": [\n${lines}\n] }\n`);
console.log(`${tools.length} tools in ${file}`);

async function listTools(server, name, args = [], variables = []) {
  const env = {
    ...getDefaultEnvironment(),
    ...Object.fromEntries(variables.map((variable) => [variable, placeholder(variable)])),
  };
  const transport = new StdioClientTransport({ command: "npx", args: ["-y", name, ...args], env, stderr: "ignore" });
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
      title: tool.title,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }));
  } finally {
    await client.close();
  }
}

function placeholder(variable) {
  return /URL/.test(variable) ? "http://127.0.0.1:9" : "placeholder";
}
