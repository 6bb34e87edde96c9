import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, test } from "vitest";

import { sampleInstance } from "../../../test/sample-catalog.ts";
import { createLanguage } from "../search/language.ts";
import type { InstanceCatalog } from "../model/snapshot.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { createLexicalEngine } from "./lexical.ts";

/** The tools of the three published example servers, as the running servers list them. */
let parts: InstanceCatalog[] = [];
let directory = "";

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-everyday-"));
  parts = await Promise.all([
    partOf("everything", "stdio"),
    partOf("filesystem", directory),
    partOf("memory", undefined, { MEMORY_FILE_PATH: join(directory, "memory.json") }),
  ]);
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function partOf(name: string, argument?: string, env: Record<string, string> = {}): Promise<InstanceCatalog> {
  const entry = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
  const args = argument === undefined ? [entry] : [entry, argument];
  const client = new Client({ name: "toolyard-test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  try {
    const { tools } = await client.listTools();
    return sampleInstance(name, tools as unknown as readonly ToolDefinition[], client.getInstructions());
  } finally {
    await client.close();
  }
}

async function best(query: string): Promise<string | undefined> {
  const engine = createLexicalEngine({ language: createLanguage() });
  const request = { principal: "someone" as PrincipalId, parts, query, limit: 10 };
  const { tools } = await engine.search(request, new AbortController().signal);
  return tools[0]?.tool.path;
}

test.each([
  ["add two numbers", "everything:get-sum"],
  ["what is 5 plus 7", "everything:get-sum"],
  ["repeat what I say", "everything:echo"],
  ["show environment variables", "everything:get-env"],
  ["long running operation", "everything:trigger-long-running-operation"],
  ["compress a file", "everything:gzip-file-as-resource"],
  ["small picture", "everything:get-tiny-image"],
  ["move a file", "filesystem:move_file"],
  ["rename a file", "filesystem:move_file"],
  ["what is in this folder", "filesystem:list_directory"],
  ["make a new folder", "filesystem:create_directory"],
  ["search files by name", "filesystem:search_files"],
  ["save text to a file", "filesystem:write_file"],
  ["change a few lines of a file", "filesystem:edit_file"],
  ["read several files at once", "filesystem:read_multiple_files"],
  ["permissions of a file", "filesystem:get_file_info"],
  ["which folders am I allowed to use", "filesystem:list_allowed_directories"],
  ["show the folder structure as a tree", "filesystem:directory_tree"],
  ["delete an entity", "memory:delete_entities"],
  ["create a relation between two entities", "memory:create_relations"],
  ["search the knowledge graph", "memory:search_nodes"],
  ["show the whole knowledge graph", "memory:read_graph"],
])("%s: %s comes first", async (query, path) => {
  expect(await best(query)).toBe(path);
});

test("reading a file and remembering a fact: either of the tools that do it", async () => {
  expect(await best("read a file")).toMatch(/^filesystem:read_(text_)?file$/);
  expect(await best("remember a fact about a person")).toMatch(/^memory:(add_observations|create_entities)$/);
});
