import { expect, test } from "vitest";

import { createLanguage } from "../language.ts";
import { createStemTable } from "./stem-table.ts";
import { createToolReader, type ReadTool } from "./tool-words.ts";
import { sampleCatalog } from "../../../../test/sample-catalog.ts";
import { buildIndexPart } from "../index/index-part.ts";
import { mergeParts } from "../index/merge.ts";

const language = createLanguage();
const tools = sampleCatalog().flatMap((part) => part.tools);

function createReader(wordLimit = 50_000, limit?: number) {
  const table = createStemTable({ stem: language.stem, isStopword: language.isStopword, wordLimit });
  const read = createToolReader(table, limit);
  return { table, read: (tool: Parameters<ReadTool>[0]) => said(table.stems, read(tool)) };
}

function said(stems: readonly string[], words: ReturnType<ReadTool>): Record<string, string[]> {
  const texts = Object.entries(words).map(([use, { numbers, length }]) => [
    use,
    Array.from(numbers.subarray(0, length), (number: number) => stems[number]),
  ]);
  return Object.fromEntries(texts) as Record<string, string[]>;
}

test("a definition says, field by field, the stems of its texts", () => {
  const definition = {
    name: "create_issues",
    title: "New issue",
    description: "Creates the issues of GitHub",
    inputSchema: { properties: { repoName: { description: "Names it", enum: ["open"] } } },
  };
  expect(createReader().read({ definition, hash: "1" })).toEqual({
    name: ["creat", "issu"],
    title: ["new", "issu"],
    description: ["creat", "issu", "git", "hub", "github"],
    parameters: ["repo", "name"],
    parameterTexts: ["name"],
    enums: ["open"],
    joined: ["createissu"],
  });
});

test("what is remembered of a definition is what was read of it, also when all or some was forgotten in between", () => {
  for (const [wordLimit, limit, forgets] of [
    [50_000, 2_000, false],
    [5, 2_000, true],
    [50_000, 40, false],
  ] as const) {
    const reader = createReader(wordLimit, limit);
    const fresh = tools.map((tool) => createReader().read(tool));
    let forgotten = 0;
    for (let round = 0; round < 3; round += 1)
      for (const [at, tool] of tools.entries()) {
        if (reader.table.trim()) forgotten += 1;
        expect(reader.read(tool)).toEqual(fresh[at]);
      }
    expect(forgotten > 0).toBe(forgets);
  }
});

test("the same tools under another server's name are not read again, and are found under that name", () => {
  const [first] = sampleCatalog();
  if (first === undefined) throw new Error("no sample");
  let reads = 0;
  const counted = first.tools.map((tool) => ({
    ...tool,
    definition: Object.defineProperty({ ...tool.definition }, "inputSchema", {
      get: () => ((reads += 1), tool.definition.inputSchema),
    }),
  }));
  const own = createLanguage();
  const parts = ["alpha", "beta"].map((server) =>
    buildIndexPart({ ...first, server: server as typeof first.server, serverTitle: server, tools: counted }, own),
  );
  expect(reads).toBe(counted.length);
  const { terms } = mergeParts(parts, own);
  expect([terms.has("alpha"), terms.has("beta")]).toEqual([true, true]);
});
