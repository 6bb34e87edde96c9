import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, expect, test } from "vitest";
import { openDrawnTerminal, keys, type DrawnTerminal } from "../harness/drawn-terminal.ts";
import { freePort } from "../harness/free-port.ts";
import { until } from "../harness/until.ts";

const page = fileURLToPath(new URL("../../docs/first-run.md", import.meta.url));
const packages = fileURLToPath(new URL("../../node_modules/@modelcontextprotocol", import.meta.url));

// Names of equal length, so that boxes stay in shape when one takes the place of the other.
const home = mkdtempSync("/tmp/ty");
const shownHome = "/home/someone";
const port = String(await freePort());
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A machine with Claude Code and Cursor, which have three real servers between them, one of them twice. */
function prepareHome(): void {
  mkdirSync(join(home, "work"));
  mkdirSync(join(home, ".cursor"));
  symlinkSync(packages, join(home, "tools"));
  const start = (name: string, ...args: string[]) => ({
    command: "node",
    args: [join(home, "tools", name, "dist", "index.js"), ...args],
  });
  const everything = start("server-everything", "stdio");
  const memory = { ...start("server-memory"), env: { MEMORY_FILE_PATH: join(home, "memory.jsonl") } };
  const files = start("server-filesystem", join(home, "work"));
  writeFileSync(join(home, ".claude.json"), JSON.stringify({ mcpServers: { everything, files } }, undefined, 2));
  writeFileSync(
    join(home, ".cursor", "mcp.json"),
    JSON.stringify({ mcpServers: { memory, everything } }, undefined, 2),
  );
}

async function answer(terminal: DrawnTerminal, question: string, key: string): Promise<void> {
  await terminal.sees(question);
  const before = terminal.raw().length;
  terminal.type(key);
  await until(() => terminal.raw().length > before);
}

/** Plays the whole guided start, and returns what stands on the terminal: before the live view, and that view. */
async function record(): Promise<{ readonly guided: string; readonly live: string }> {
  prepareHome();
  await using terminal = await openDrawnTerminal({
    args: ["--port", port],
    cwd: join(home, "work"),
    env: { HOME: home, PATH: process.env["PATH"] ?? "" },
    columns: 110,
    rows: 60,
  });
  for (const question of ["Which servers should it start with?", "Which of them?", "Write this to"])
    await answer(terminal, question, keys.enter);
  await answer(terminal, "Which client should use it?", keys.down);
  await answer(terminal, "● Cursor", keys.enter);
  await answer(terminal, "Cursor has these itself", keys.enter);
  await answer(terminal, "Connect Cursor?", keys.enter);
  await terminal.sees("Waiting for Cursor");
  const { mcpServers } = JSON.parse(readFileSync(join(home, ".cursor", "mcp.json"), "utf8")) as {
    mcpServers: Record<string, { url: string }>;
  };
  const client = new Client({ name: "cursor-vscode", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpServers["toolyard"]?.url ?? "")));
  await client.listTools();
  await answer(terminal, "Another client?", keys.enter);
  await terminal.sees("Ctrl-C stops it");
  const callTool = async (path: string, args: object) =>
    await client.callTool({ name: "execute_mcp_tool", arguments: { tool_path: path, arguments: args } });
  await callTool("everything:get-sum", { a: 2, b: 40 });
  await callTool("files:read_text_file", { path: join(home, "work", "nothing.txt") });
  await terminal.sees(/files:read_text_file +tool failed/);
  await terminal.sees(/Saved today: (about )?[\d,]+ tokens/);
  await terminal.sees("2 calls in 24 h, 1 failed");
  const all = terminal.all();
  const at = all.lastIndexOf("\nToolyard ");
  await client.close();
  return { guided: toPage(all.slice(0, at)), live: toPage(all.slice(at + 1)) };
}

function toPage(text: string): string {
  // Servers come up in any order.
  const trials = /^(?: {2}\+ \S+ {2}answers as .*\n)+/m;
  const sorted = (lines: string): string => `${lines.trimEnd().split("\n").toSorted().join("\n")}\n`;
  return text
    .replace(trials, sorted)
    .replaceAll(home, shownHome)
    .replaceAll(`127.0.0.1:${port}`, "127.0.0.1:3001")
    .trimEnd();
}

/** Without what differs from run to run: times, counts of tokens, and ids. */
function shape(text: string): string {
  return text
    .replace(/gateways\/[0-9a-f]+/g, "gateways/#")
    .replace(/\d[\d,.:]*/g, "#")
    .replace(/\babout /g, "")
    .replace(/ (?:ms|s|min)\b/g, "")
    .replace(/[ \t]+/g, " ")
    .replace(/ +$/gm, "");
}

/** `RECORD=1 npm test -- test/docs/first-run.test.ts` writes the recordings into the page anew. */
test.skipIf(process.platform !== "linux")("docs/first-run.md shows what the program shows", async () => {
  const recorded = await record();
  let text = readFileSync(page, "utf8");
  for (const [name, made] of Object.entries(recorded)) {
    const found = new RegExp(`(<!-- recording: ${name} -->\\n\\n\`\`\`text\\n)([^]*?)(\\n\`\`\`)`).exec(text);
    expect(found, `a recording ${name}`).not.toBeNull();
    const [whole = "", begin = "", old = "", end = ""] = found ?? [];
    if (process.env["RECORD"] === "1") text = text.replace(whole, () => `${begin}${made}${end}`);
    else expect(shape(old)).toBe(shape(made));
  }
  if (process.env["RECORD"] === "1") writeFileSync(page, text);
});
