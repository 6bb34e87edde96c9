import { expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import type { ToolDefinition } from "../../../kernel/call/definitions.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import { createPhraseBook, phraseKey, phrasesFrom, readBook } from "./phrase-book.ts";

const parameters = { type: "object", properties: { title: { type: "string" }, body: { type: "string" } } };
const plain = { name: "create_issue", description: "Create an issue", inputSchema: parameters };

function entry(more: Partial<ToolDefinition> = {}): ToolEntry {
  return sampleInstance("tracker", [{ ...plain, ...more }]).tools[0] as ToolEntry;
}

const lineOf = (tool: ToolEntry, phrases: string): string => `${phraseKey(tool)} ${tool.upstreamName}: ${phrases}`;
const book = createPhraseBook([`# a comment\n\n${lineOf(entry(), "report a bug | it crashed")}\n`]);

test("phrases are found for the tool that they were written for, whatever it is called here", () => {
  expect(book.find(entry())).toEqual(["report a bug", "it crashed"]);
  const renamed = { ...entry(), definition: { ...entry().definition, name: "new_issue" } };
  expect(book.find(renamed)).toEqual(["report a bug", "it crashed"]);
  expect(book.size).toBe(1);
});

test("a schema that says the same in another way keeps them", () => {
  const { title, body } = parameters.properties;
  const reordered = { ...parameters, properties: { body: { ...body, maxLength: 9 }, title } };
  expect(book.find(entry({ inputSchema: reordered, annotations: { readOnlyHint: false } }))).toHaveLength(2);
});

test("another wording, title or parameter is another tool", () => {
  const { title } = parameters.properties;
  const changes: Partial<ToolDefinition>[] = [
    { description: "Create an issue in the tracker" },
    { title: "Create an issue" },
    { inputSchema: { ...parameters, properties: { title } } },
    { inputSchema: { type: "object" } },
    { name: "create_issues" },
  ];
  for (const change of changes) expect(book.find(entry(change))).toBeUndefined();
});

test("a title in the annotations is the title, as older servers have it", () => {
  const titled = { title: "Create an issue" };
  expect(phraseKey(entry({ annotations: titled }))).toBe(phraseKey(entry(titled)));
  expect(phraseKey(entry({ annotations: titled }))).not.toBe(phraseKey(entry()));
  expect(phraseKey(entry({ ...titled, annotations: { title: "Another" } }))).toBe(phraseKey(entry(titled)));
});

test("a line counts for each definition whose key it has, and for no other", () => {
  const later = entry({ description: "Opens an issue" });
  const both = createPhraseBook([`${phraseKey(entry())},${phraseKey(later)} create_issue: it crashed\n`]);
  expect(both.find(entry())).toEqual(["it crashed"]);
  expect(both.find(later)).toEqual(["it crashed"]);
  expect(both.find(entry({ description: "Closes an issue" }))).toBeUndefined();
  expect(both.size).toBe(1);
});

test("whoever wrote the server or the configuration is heard before the book, and the book before a model", () => {
  const written = () => ["from a model"];
  const own = (phrases: unknown): ToolEntry => entry({ _meta: { "toolyard/phrases": phrases } });
  const phrasesOf = phrasesFrom(book, written);
  expect(phrasesOf(own(["ours"]))).toEqual(["ours"]);
  expect(phrasesOf(own([]))).toEqual([]);
  expect(phrasesOf(entry())).toEqual(["report a bug", "it crashed"]);
  expect(phrasesOf(entry({ description: "Something else" }))).toEqual(["from a model"]);
  expect(phrasesFrom(undefined)(entry())).toEqual([]);
});

test("a line in no notation is refused, so that no phrase gets lost unseen", () => {
  for (const text of [
    "create_issue: report a bug",
    "0123456789ab create_issue report",
    "xyz a: b",
    "0123456789ab, a: b",
  ])
    expect(() => readBook(text)).toThrow("no line of a phrase book");
});
