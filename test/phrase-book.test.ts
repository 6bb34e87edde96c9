import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import { createPhraseBook } from "../src/catalog/search/phrase-book.ts";
import { phraseTexts } from "../src/catalog/search/phrase-texts.ts";
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
