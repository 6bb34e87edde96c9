import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import { createPhraseBook } from "../src/catalog/search/language/phrase-book.ts";
import { phraseTexts } from "../src/catalog/search/language/phrase-texts.ts";
import { discover, untilOnline } from "./faults/servers/faulty-gateway.ts";
import { badServer, startGateway } from "./harness/gateway.ts";
import { send } from "./harness/rpc.ts";
import { sampleInstance } from "./sample-catalog.ts";

const book = createPhraseBook(phraseTexts);

/** What a server of `node_modules` lists now. */
async function listed(name: string, ...args: string[]) {
  const path = fileURLToPath(new URL(`../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [path, ...args], stderr: "ignore" }),
  );
  try {
    const { tools } = await client.listTools();
    return sampleInstance(
      name,
      tools.map(({ outputSchema: _output, ...tool }) => JSON.parse(JSON.stringify(tool))),
    ).tools;
  } finally {
    await client.close();
  }
}

test.each([["server-memory"], ["server-everything"], ["server-filesystem", "."]])(
  "the book has phrases for every tool that %s lists (otherwise: npm run phrases)",
  async (name, ...args) => {
    const tools = await listed(name, ...args);
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.filter((tool) => book.find(tool) === undefined).map(({ path }) => path)).toEqual([]);
  },
);

test("the book is loaded by the first search: neither by the start nor by a list of tools", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-loaded-"));
  const list = join(folder, "loaded");
  const recorder = new URL("./harness/record-modules.mjs", import.meta.url);
  const isBookLoaded = async (): Promise<boolean> => (await readFile(list, "utf8")).includes("phrase-texts");
  try {
    await using gateway = await startGateway({
      config: { mcpServers: { bad: badServer() } },
      env: { NODE_OPTIONS: `--import=${recorder.href}`, LOADED_MODULES: list },
    });
    await untilOnline(gateway, "bad");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const { json } = await send(`${gateway.url}/mcp`, { headers: { "content-type": "application/json" }, body });
    expect(json.result.tools.length).toBeGreaterThan(0);
    expect(await isBookLoaded()).toBe(false);
    await discover(gateway, { query: "echo" });
    expect(await isBookLoaded()).toBe(true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
