import { beforeAll, expect, test } from "vitest";
import { claudeSearch, codexSearch, keyWords, type ClientTool } from "../bench/surfacing/client-searches.ts";
import { measureSurfacing, type Share, type Surfacing } from "../bench/surfacing/share-found.ts";
import { smallSet } from "../bench/surfacing/small-set.ts";
import { askGateway } from "../bench/surfacing/told-client.ts";

const set = smallSet();
let named: Surfacing;
let unnamed: Surfacing;
beforeAll(async () => {
  named = measureSurfacing(set, await askGateway(set.tools, set.behind), 100);
  unnamed = measureSurfacing(set, await askGateway(set.tools, []), 100);
});

const part = ({ found, of }: Share): number => found / of;

test("clients' searches find discover_mcp_tools for what is behind it, and much more rarely without the servers' names", () => {
  expect(named.codex.of).toBe(31);
  expect(part(named.codex)).toBeGreaterThanOrEqual(0.65);
  expect(part(named.claudeWords)).toBeGreaterThanOrEqual(0.5);
  expect(part(named.codex)).toBeGreaterThan(part(unnamed.codex) + 0.2);
  expect(part(named.claudeWords)).toBeGreaterThan(part(unnamed.claudeWords) + 0.2);
});

test("nothing is taken from the tools of others", () => {
  expect(named.beside.of).toBe(10);
  expect(named.beside.found).toBeGreaterThanOrEqual(named.besideAlone.found);
});

const tools: readonly ClientTool[] = [
  { server: "tracker", name: "create_issue", description: "Files a bug" },
  { server: "chat", name: "post", instructions: "Channels and messages", inputSchema: { properties: { channel: {} } } },
  { server: "paper", name: "other", description: "A sheet", _meta: { "anthropic/searchHint": "print documents" } },
];

test("Codex compares stems of words and reads instructions, and takes a name with underscores for one word", () => {
  const search = codexSearch(tools);
  expect(search("which message did the channels have")).toEqual([1]);
  expect(search("filed bugs")).toEqual([0]);
  expect(search("create_issue")).toEqual([0]);
  expect(search("issue")).toEqual([]);
  expect(search("documents")).toEqual([]);
  expect(search("")).toEqual([]);
});

test("Claude Code compares whole words with parts of names, hints and descriptions, and reads no instructions", () => {
  const search = claudeSearch(tools);
  expect(search("issue")).toEqual([0]);
  expect(search("documents")).toEqual([2]);
  expect(search("document")).toEqual([]);
  expect(search("messages")).toEqual([]);
  expect(search("(sheet) [a-z")).toEqual([]);
});

test("the words of a question that mean something", () => {
  expect(keyWords("What's in the Café?")).toBe("cafe");
});
