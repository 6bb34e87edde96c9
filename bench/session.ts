import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startMeasured } from "./measure/process.ts";

/**
 * What a model reads in a working session with everyday servers: the list of all tools and ten calls, or four tools,
 * ten searches and ten calls. The servers are those of examples/laptop.json, started from npm. Tokens are o200k, and
 * counted of what was really sent: nothing is averaged or assumed. `node scripts/run-bench.mjs bench/session.ts
 * [--wait-s=300]`.
 */
const waitSeconds = Number(process.argv.find((argument) => argument.startsWith("--wait-s="))?.slice(9) ?? 300);
const directory = mkdtempSync(join(tmpdir(), "toolyard-session-"));
const files = join(directory, "files");

interface Step {
  /** As an agent writes it. */
  readonly query: string;
  readonly tool: string;
  readonly args: object;
}

/** What can be done without an account. */
const steps: readonly Step[] = [
  { query: "list the files in a folder", tool: "filesystem:list_directory", args: { path: files } },
  {
    query: "save a note as a text file",
    tool: "filesystem:write_file",
    args: { path: join(files, "note.md"), content: "# Plan\n\n- call Ann\n" },
  },
  { query: "read a text file", tool: "filesystem:read_text_file", args: { path: join(files, "note.md") } },
  {
    query: "find files whose name contains a word",
    tool: "filesystem:search_files",
    args: { path: files, pattern: "*.md" },
  },
  {
    query: "remember a fact about a person",
    tool: "memory:create_entities",
    args: { entities: [{ name: "Ann", entityType: "person", observations: ["works at Acme"] }] },
  },
  { query: "what do I know about Ann", tool: "memory:search_nodes", args: { query: "Ann" } },
  {
    query: "think through a problem step by step",
    tool: "sequential-thinking:sequentialthinking",
    args: { thought: "Start with the smallest part.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
  },
  {
    query: "plan the tasks of a request",
    tool: "tasks:request_planning",
    args: { originalRequest: "Ship it", tasks: [{ title: "Test", description: "Run the tests" }] },
  },
  { query: "add two numbers", tool: "everything:get-sum", args: { a: 2, b: 40 } },
  { query: "echo a message back", tool: "everything:echo", args: { message: "hello" } },
];

const tokensOf = (value: unknown): number => countTokens(typeof value === "string" ? value : JSON.stringify(value));

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  return client;
}

interface Status {
  readonly servers: readonly { readonly slug: string; readonly status: string; readonly toolCount: number }[];
}

/** Waits until every server can be used, or no longer. Returns how many tools there are. */
async function untilUp(url: string): Promise<{ readonly up: number; readonly all: number; readonly tools: number }> {
  const deadlineMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    const { servers } = (await (await fetch(`${url}/api/servers?limit=1000`)).json()) as Status;
    const up = servers.filter(({ status }) => status === "online").length;
    const tools = servers.reduce((sum, server) => sum + server.toolCount, 0);
    if (up === servers.length || performance.now() > deadlineMs) return { up, all: servers.length, tools };
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

function row(...cells: readonly (string | number)[]): void {
  process.stdout.write(
    `| ${cells.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : cell)).join(" | ")} |\n`,
  );
}

try {
  cpSync(fileURLToPath(new URL("../examples", import.meta.url)), directory, { recursive: true });
  const gateway = await startMeasured(
    [
      fileURLToPath(new URL("../dist/cli/main.js", import.meta.url)),
      ...["serve", "--config", join(directory, "laptop.json"), "--port", "0"],
      ...["--data-dir", join(directory, "data"), "--log-level", "error"],
    ],
    { MEMORY_FILE_PATH: join(directory, "memory.json") },
  );
  try {
    const { up, all, tools } = await untilUp(gateway.url);
    const flat = await connect(`${gateway.url}/mcp/flat`);
    const meta = await connect(`${gateway.url}/mcp`);
    const flatList: unknown[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await flat.listTools(cursor === undefined ? {} : { cursor });
      flatList.push(...page.tools);
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    const flatStart = tokensOf(flatList);
    const metaStart = tokensOf((await meta.listTools()).tools) + tokensOf(meta.getInstructions() ?? "");
    let finding = 0;
    let calls = 0;
    let found = 0;
    let failed = 0;
    for (const { query, tool, args } of steps) {
      const asked = { query };
      const answer = await meta.callTool({ name: "discover_mcp_tools", arguments: asked });
      const text = JSON.stringify(answer.content);
      finding += tokensOf(asked) + tokensOf((answer.content as { text: string }[])[0]?.text ?? "");
      if (text.includes(tool)) found += 1;
      const result = await meta.callTool({ name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: args } });
      if (result.isError === true) failed += 1;
      // What is passed is the same for a tool of a list; the path and the word around it are not.
      const passed = tokensOf(args) + tokensOf(result.content);
      calls += passed;
      finding += tokensOf({ tool_path: tool, arguments: args }) - tokensOf(args);
    }
    process.stdout.write(
      `${up} of ${all} servers up, ${tools} tools; ${found} of ${steps.length} searches named the tool that was needed; ${failed} calls failed.\n\n`,
    );
    row("tokens", "all tools in the list", "four tools");
    row("---", "---:", "---:");
    row("before the first question", flatStart, metaStart);
    row("finding the tool, ten times", 0, finding);
    row("arguments and results of ten calls", calls, calls);
    row("the whole session", flatStart + calls, metaStart + finding + calls);
    process.stdout.write(
      `\n${(100 - (100 * (metaStart + finding + calls)) / (flatStart + calls)).toFixed(1)} % less in the whole session, ${(100 - (100 * metaStart) / flatStart).toFixed(1)} % less before the first question.\n`,
    );
    await flat.close();
    await meta.close();
  } finally {
    await gateway.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
