import { assert, asyncProperty, oneof, string } from "fast-check";
import { expect, test } from "vitest";

import { createLanguage } from "../search/language.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { sampleCatalog, sampleInstance } from "../../../test/sample-catalog.ts";
import { clampLimit, readQuery, type SearchEngine, type SearchRequest } from "./engine.ts";
import { createFuseEngine } from "./fuse.ts";
import { createLexicalEngine } from "./lexical.ts";

const never = new AbortController().signal;
const parts = sampleCatalog();
const language = createLanguage();

function ask(query: string, more: Partial<SearchRequest> = {}): SearchRequest {
  return { principal: "local" as PrincipalId, parts, query: readQuery(query).query, limit: 10, ...more };
}

async function paths(engine: SearchEngine, request: SearchRequest): Promise<string[]> {
  const { tools } = await engine.search(request, never);
  return tools.map(({ tool }) => tool.path);
}

test("FAULT 62: queries of every kind get an answer", async () => {
  const engine = createLexicalEngine({ language });
  const odd = [
    "   ",
    "🙂🙂🙂",
    "*",
    "'; DROP TABLE tools; --",
    '"exact" NEAR/3 -not',
    "(a+)+$",
    "\u0000\u0001\u202e",
    "\ud83d",
    "=create | !issue ^x",
    "ก่อน",
    "a".repeat(1_000),
    "x ".repeat(500),
  ];
  for (const query of odd) expect(Array.isArray(await paths(engine, ask(query)))).toBe(true);
  await assert(
    asyncProperty(
      oneof(string({ unit: "binary", maxLength: 1_500 }), string({ unit: "grapheme", maxLength: 300 })),
      async (query) => {
        const { tools } = await engine.search(ask(query), never);
        for (const { distance } of tools) expect(distance >= 0 && distance <= 1).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test("FAULT 62: a query of 10 KB is cut and says so, a larger one is refused", () => {
  expect(readQuery("find it")).toEqual({ query: "find it", cut: false });
  expect(readQuery(`${"a".repeat(999)}🙂`)).toEqual({ query: "a".repeat(999), cut: true });
  expect(readQuery("b".repeat(10_240))).toMatchObject({ cut: true });
  expect(() => readQuery("b".repeat(10_241))).toThrow(expect.objectContaining({ code: "QUERY_INVALID" }));
  expect(() => readQuery("界".repeat(4_000))).toThrow(expect.objectContaining({ code: "QUERY_INVALID" }));
  expect(() => readQuery("x".repeat(1_000_000))).toThrow(expect.objectContaining({ code: "QUERY_INVALID" }));
});

test("FAULT 63: any limit becomes one that can be", () => {
  expect([-1, 0, 1, 7.9, 50, 1e9, Number.POSITIVE_INFINITY].map(clampLimit)).toEqual([1, 1, 1, 7, 50, 50, 50]);
  expect(["10", "3", "", "ten", Number.NaN, undefined, null, {}].map(clampLimit)).toEqual([
    10, 3, 10, 10, 10, 10, 10, 10,
  ]);
});

test("a replaced instance is found with its new tools, the others stay", async () => {
  const engine = createLexicalEngine({ language });
  await engine.prepare(parts, never);
  expect(await paths(engine, ask("post message"))).toContain("slack:slack_post_message");
  const changed = parts.map((part) =>
    part.server === "slack" ? sampleInstance("slack", [{ name: "archive_channel" }]) : part,
  );
  expect(await paths(engine, ask("archive channel", { parts: changed }))).toEqual(["slack:archive_channel"]);
  expect(await paths(engine, ask("create issue", { parts: changed }))).toContain("github:create_issue");
});

test("an aborted search stops between two servers", async () => {
  const many = Array.from({ length: 40 }, (_, at) =>
    sampleInstance(
      `s${at}`,
      Array.from({ length: 40 }, (_one, tool) => ({ name: `tool_${tool}`, description: `word${tool} `.repeat(200) })),
    ),
  );
  const engine = createLexicalEngine({ language: createLanguage() });
  await expect(engine.search(ask("tool", { parts: many }), AbortSignal.abort(new Error("gone")))).rejects.toThrow(
    "gone",
  );
});

test("fuse finds what it can, in a worker", async () => {
  // What it finds is tested, not how soon a busy machine starts the worker.
  const engine = createFuseEngine({ timeoutMs: 30_000 });
  const { tools, total, match } = await engine.search(ask("screenshot"), never);
  expect(match).not.toBe("none");
  expect(await engine.search(ask("how many orders are there"), never)).toMatchObject({ tools: [], match: "none" });
  expect(tools[0]?.tool.path).toBe("browser:browser_take_screenshot");
  expect(tools[0]?.distance).toBeLessThan(1);
  expect(total).toBeGreaterThanOrEqual(tools.length);
});

test("fuse is stopped after its time and says so", async () => {
  const text = "lorem ipsum dolor sit amet consetetur sadipscing elitr sed diam nonumy eirmod tempor ".repeat(40);
  const big = [
    sampleInstance(
      "big",
      Array.from({ length: 3_000 }, (_, at) => ({ name: `tool_${at}`, description: `${at} ${text}` })),
    ),
  ];
  const query = Array.from({ length: 100 }, () => "dolour").join(" | ");
  await expect(createFuseEngine().search(ask(query, { parts: big }), never)).rejects.toMatchObject({
    code: "SEARCH_FAILED",
  });
});

test("fuse without its worker file says that the gateway was replaced, and does not crash", async () => {
  const engine = createFuseEngine({ timeoutMs: 60_000, workerFile: new URL("file:///nowhere/fuse-worker.js") });
  await expect(engine.search(ask("issue"), never)).rejects.toMatchObject({ code: "GATEWAY_REPLACED" });
});
