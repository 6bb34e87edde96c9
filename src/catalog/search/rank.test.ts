import { expect, test } from "vitest";

import type { ServerSlug } from "../../kernel/ids.ts";
import { buildIndexPart } from "./index/index-part.ts";
import { createLanguage } from "./language.ts";
import type { Lesson } from "./learning/learned.ts";
import { mergeParts, type SearchIndex } from "./index/merge.ts";
import { search, type SearchOptions } from "./rank.ts";
import { sampleCatalog, sampleInstance } from "../../../test/sample-catalog.ts";

const language = createLanguage();
const index = indexOf(sampleCatalog());

function indexOf(parts: ReturnType<typeof sampleCatalog>): SearchIndex {
  return mergeParts(
    parts.map((part) => buildIndexPart(part, language)),
    language,
  );
}

function find(query: string, options: Partial<SearchOptions> = {}): string[] {
  return search(index, query, { limit: 10, ...options }).tools.map(({ tool }) => tool.path);
}

test("the words of a name find their tool, in any spelling", () => {
  for (const query of [
    "create issue",
    "createIssue",
    "CREATE_ISSUE",
    "please create an issue for me",
    "creating issues",
  ]) {
    expect(find(query)[0]).toBe("github:create_issue");
  }
});

test("other words for the same thing find it too", () => {
  expect(find("will it rain, do I need an umbrella")[0]).toBe("weather:get_forecast");
  expect(find("report a bug")[0]).toBe("github:create_issue");
  expect(find("tell the team")[0]).toBe("slack:slack_post_message");
  expect(find("merge the PR")[0]).toBe("github:merge_pull_request");
});

test("neighbours are found as one word and one word as neighbours", () => {
  expect(find("screen shot")[0]).toBe("browser:browser_take_screenshot");
  expect(find("pullrequest")[0]).toBe("github:merge_pull_request");
});

test("a misspelt word is found when nothing else is known", () => {
  expect(find("forcast wether")[0]).toBe("weather:get_forecast");
});

test("a tool that does something else than is asked comes later", () => {
  const found = find("list repository issues");
  expect(found[0]).toBe("github:list_issues");
  expect(found.indexOf("github:delete_repository")).not.toBe(0);
});

test("text in other languages is found by its own words", () => {
  expect(find("搜索关键词")[0]).toBe("bing-cn:bing_search");
});

test("no word known: no result; one word known: a result", () => {
  expect(find("zzyzx qqqq")).toEqual([]);
  expect(find("zzyzx qqqq issue")).not.toEqual([]);
  expect(find("")).toEqual([]);
});

test("filters: server, policy, limit", () => {
  expect(find("issue", { server: "slack" as ServerSlug })).toEqual([]);
  expect(find("issue", { allow: (tool) => tool.definition.name !== "create_issue" })).not.toContain(
    "github:create_issue",
  );
  expect(find("repository", { limit: 1 })).toHaveLength(1);
});

test("distance grows from the best to the worst, within 0 and 1", () => {
  const { tools, total } = search(index, "create issue", { limit: 10, keepAll: true });
  const distances = tools.map(({ distance }) => distance);
  expect(distances).toEqual([...distances].sort((a, b) => a - b));
  expect(Math.min(...distances)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...distances)).toBeLessThanOrEqual(1);
  expect(total).toBe(tools.length);
  expect(search(index, "create issue on zzyzx", { limit: 1 }).tools[0]?.distance).toBeGreaterThanOrEqual(
    distances[0] ?? 1,
  );
});

test("a tool that has only what hints at the need, or half of it, is no perfect match", () => {
  const distanceOf = (query: string): number | undefined => search(index, query, { limit: 1 }).tools[0]?.distance;
  expect(distanceOf("create issue")).toBe(0);
  // It may be a name that the tool is used with; nobody knows.
  expect(distanceOf("create issue zzyzx")).toBeGreaterThan(0);
  expect(distanceOf("create issue zzyzx")).toBeLessThan(0.25);
  for (const query of ["create weather", "create a playlist"]) expect(distanceOf(query), query).toBeGreaterThan(0.15);
});

test("what is far behind a clear winner is cut, unless all is asked for", () => {
  const query = "github merge pull request";
  expect(find(query)).toEqual(["github:merge_pull_request"]);
  expect(find(query, { keepAll: true }).length).toBeGreaterThan(1);
});

test("FAULT 60: the order is always the same", () => {
  const first = find("page repository message");
  for (let round = 0; round < 100; round += 1) expect(find("page repository message")).toEqual(first);
});

const like = (likeness: number): Lesson => ({ likeness, odds: 0 });

test("a tool that was called after such words before is found by them", () => {
  const tools = sampleCatalog();
  const fresh = indexOf(tools);
  const slack = tools.flatMap((part) => part.tools).findIndex((tool) => tool.path === "slack:slack_post_message");
  const learned = new Map([[slack, like(0.7)]]);
  expect(search(fresh, "standup", { limit: 5 }).tools).toEqual([]);
  expect(search(fresh, "standup", { limit: 5, learned }).tools[0]?.tool.path).toBe("slack:slack_post_message");
});

test("words that speak for a tool lift it a little, for one tool much more than for many", () => {
  const tools = sampleCatalog();
  const fresh = indexOf(tools);
  const all = tools.flatMap((part) => part.tools);
  const numberOf = (path: string): number => all.findIndex((tool) => tool.path === path);
  const scoreOf = (path: string, spoken: readonly string[]): number => {
    const learned = new Map(spoken.map((one) => [numberOf(one), { likeness: 0, odds: 100 }]));
    const found = search(fresh, "github issues", { limit: 10, keepAll: true, learned });
    return found.tools.find(({ tool }) => tool.path === path)?.score ?? 0;
  };
  const best = scoreOf("github:list_issues", []);
  const lifted = (path: string, ...others: readonly string[]): number =>
    (scoreOf(path, [path, ...others]) - scoreOf(path, [])) / best;
  expect(lifted("github:create_issue")).toBeCloseTo(0.2 * (100 / 101) ** 2, 5);
  expect(lifted("github:create_issue", "weather:get_forecast")).toBeCloseTo(0.2 * (100 / 201) ** 2, 5);
  // One that no word leads to gets no more.
  expect(lifted("slack:slack_post_message")).toBeLessThan(0.2);
});

test("what was learned lifts one tool and takes no other out of the answer", () => {
  const tools = sampleCatalog();
  const fresh = indexOf(tools);
  const query = "github merge pull request";
  const list = tools.flatMap((part) => part.tools).findIndex((tool) => tool.path === "github:list_issues");
  const ask = (similarity: number): string[] =>
    search(fresh, query, { limit: 5, learned: new Map([[list, like(similarity)]]) }).tools.map(({ tool }) => tool.path);
  expect(ask(0.9).slice(0, 2)).toEqual(["github:list_issues", "github:merge_pull_request"]);
  expect(ask(0.31)[0]).toBe("github:merge_pull_request");
  expect(ask(0.2)).toEqual(["github:merge_pull_request"]);
  const others = search(fresh, query, {
    limit: 5,
    learned: new Map([[list, like(0.9)]]),
    allow: (tool) => tool.server === "slack",
  });
  expect(others.tools.map(({ tool }) => tool.path)).not.toContain("github:list_issues");
});

test("queries that led to many tools say little about each of them", () => {
  const tools = sampleCatalog();
  const fresh = indexOf(tools);
  const all = tools.flatMap((part) => part.tools);
  const ask = (paths: readonly string[]): string | undefined =>
    search(fresh, "github merge pull request", {
      limit: 5,
      learned: new Map(paths.map((path) => [all.findIndex((tool) => tool.path === path), like(0.9)])),
    }).tools[0]?.tool.path;
  const others = all.map(({ path }) => path).filter((path) => !path.startsWith("github:"));
  expect(others.length).toBeGreaterThan(3);
  expect(ask(["github:list_issues"])).toBe("github:list_issues");
  expect(ask(["github:list_issues", ...others])).toBe("github:merge_pull_request");
});

test("a changed server changes its part only", () => {
  const parts = sampleCatalog().map((part) => buildIndexPart(part, language));
  const changed = buildIndexPart(
    sampleInstance("slack", [{ name: "archive_channel", description: "Archive a channel" }]),
    language,
  );
  const merged = mergeParts([...parts.filter((part) => part.tools[0]?.server !== "slack"), changed], language);
  expect(search(merged, "archive channel", { limit: 1 }).tools[0]?.tool.path).toBe("slack:archive_channel");
  expect(search(merged, "post message", { limit: 5 }).tools.map(({ tool }) => tool.path)).not.toContain(
    "slack:slack_post_message",
  );
});

test("FAULT 61: schemas of any shape are indexed without being followed", () => {
  const cyclic: Record<string, unknown> = { type: "object", properties: { again: { $ref: "#" } } };
  (cyclic["properties"] as Record<string, unknown>)["itself"] = cyclic;
  const deep = JSON.parse(`${'{"properties":{"p":'.repeat(5_000)}{}${"}}".repeat(5_000)}`) as Record<string, unknown>;
  const odd = [
    cyclic,
    deep,
    { properties: { n: null, t: true }, enum: [1, null, "red"] },
    { properties: [] },
    { anyOf: Array.from({ length: 20_000 }, () => ({ description: "one" })) },
  ];
  const part = sampleInstance(
    "odd",
    odd.map((inputSchema, at) => ({ name: `tool_${at}`, description: "odd tool", inputSchema })),
  );
  const merged = indexOf([part]);
  expect(search(merged, "odd tool", { limit: 10 }).tools).toHaveLength(5);
  expect(search(merged, "red", { limit: 10 }).tools[0]?.tool.definition.name).toBe("tool_2");
});
