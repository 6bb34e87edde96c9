import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { measureTokens, toHit, type CorpusTool } from "../../../../bench/retrieval/tokens.ts";
import { readPublicTools } from "../../../../test/servers/public-tools.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { ToolDefinition } from "../../../kernel/call/definitions.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { renderDiscover, type DiscoverFindings } from "./discover-answer.ts";
import type { DiscoverHit } from "./discover-result.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { unavailableLine } from "./discover-servers.ts";

const issue: CorpusTool = {
  id: "github:create_issue",
  server: "github",
  serverTitle: "GitHub",
  name: "create_issue",
  description: "Create a new issue in a GitHub repository.",
  inputSchema: {
    type: "object",
    properties: {
      owner: { type: "string", description: "Login, e.g. octocat" },
      repo: { type: "string", description: "Name" },
      labels: { type: "array", items: { type: "string" } },
    },
    required: ["owner", "repo"],
  },
};

function hit(definition: Partial<ToolDefinition> = {}, more: Partial<DiscoverHit> = {}): DiscoverHit {
  const made = toHit(issue);
  return {
    ...made,
    tool: {
      ...made.tool,
      definition: { ...made.tool.definition, ...definition } as ToolDefinition,
    },
    ...more,
  };
}

function findings(more: Partial<DiscoverFindings> = {}): DiscoverFindings {
  return {
    needs: [{ query: "create an issue", hits: [hit()] }],
    grouped: false,
    detail: "signature",
    totalFound: 1,
    searchTimeMs: 1.234,
    ...more,
  };
}

interface Answer {
  readonly tools: readonly JsonObject[];
  readonly left_out?: number;
  readonly [key: string]: unknown;
}

function answerOf(more: Partial<DiscoverFindings> = {}): Answer {
  return JSON.parse(renderDiscover(findings(more))) as Answer;
}

function first(more: Partial<DiscoverFindings>): JsonObject {
  return answerOf(more).tools[0] ?? {};
}

/** Many different tools with long descriptions and signatures. */
function many(count: number): DiscoverHit[] {
  const properties = Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [`setting_${at}`, { type: "string", enum: ["slow", "fast", "other"] }]),
  );
  return Array.from({ length: count }, (_, at) =>
    toHit({
      ...issue,
      id: `server:tool_number_${at}`,
      description:
        "Does something with a thing that has a rather long name, in a place that is hard to find on any map. ".repeat(
          20,
        ),
      inputSchema: { type: "object", properties, required: ["setting_7"] },
    }),
  );
}

describe("renderDiscover", () => {
  test("has the fields that its documentation names", () => {
    expect(answerOf()).toEqual({
      tools: [
        {
          tool_path: "github:create_issue",
          description: "Create a new issue in a GitHub repository.",
          server_name: "GitHub",
          transport: "stdio",
          relevance_score: 0.031,
          input: "{ owner: string; repo: string; labels?: string[] }",
          note: "owner: Login, e.g. octocat",
        },
      ],
      total_found: 1,
      search_time_ms: 1.2,
      query: "create an issue",
    });
  });

  test("detail names gives paths only", () => {
    expect(first({ detail: "names" })).toEqual({ tool_path: "github:create_issue" });
  });

  test("detail schema gives the schemas and annotations as they are", () => {
    const outputSchema = { type: "object", properties: { number: { type: "integer" } } };
    const annotations = { readOnlyHint: false, title: "Create" };
    const shown = first({
      detail: "schema",
      needs: [{ query: "x", hits: [hit({ outputSchema, annotations })] }],
    });
    expect(shown).toMatchObject({ inputSchema: issue.inputSchema, outputSchema, annotations });
    expect(shown).not.toHaveProperty("cut");
  });

  test("a tool with an output schema says behind its signature what its results hold", () => {
    const noteOf = (outputSchema: JsonObject): unknown =>
      String(first({ needs: [{ query: "x", hits: [hit({ outputSchema })] }] })["input"]).split(" -> ")[1];
    const fields = (count: number, name: (at: number) => string): JsonObject => ({
      type: "object",
      properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), { type: "string" }])),
    });
    const properties = { url: { type: "string" }, number: { type: "integer" }, body: { type: "string" } };
    expect(noteOf({ type: "object", properties, required: ["number", "url"] })).toBe("{ number, url, body? }");
    expect(noteOf({ type: "array", items: { type: "string" } })).toBe("string[]");
    expect(noteOf({ type: "object" })).toBe("object");
    expect(noteOf({})).toBe("object");
    expect(noteOf(fields(40, (at) => `f${at}`))).toBe("{ f0?, f1?, f2?, f3?, ... }");
    expect(noteOf(fields(9, (at) => `${at}`.repeat(64_000)))).toBe("{ ... }");
    expect(noteOf(fields(1, () => 'a" -> }\u202e\n'))).toBe('{ "a\\"');
    expect(first({})["input"]).not.toContain("->");
  });

  test("detail schema shortens an output schema before it leaves it out, and says so", () => {
    const outputSchema = {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [
          `field_${at}`,
          { type: "string", description: "It is long. ".repeat(99) },
        ]),
      ),
    };
    const shown = first({ detail: "schema", needs: [{ query: "x", hits: [hit({ outputSchema })] }] });
    expect(shown).toMatchObject({ cut: true, outputSchema: { properties: { field_19: { type: "string" } } } });
    expect(JSON.stringify(shown).length).toBeLessThan(4_000);
  });

  test("keeps _meta and names the app's resource as it can be read here", () => {
    const _meta = {
      "vendor/x": 1,
      ui: { resourceUri: "ui://view", visibility: ["model"] },
      "ui/resourceUri": "ui://view",
    };
    for (const detail of ["signature", "schema"] as const) {
      expect(first({ detail, needs: [{ query: "x", hits: [hit({ _meta })] }] })["_meta"]).toEqual({
        "vendor/x": 1,
        ui: { resourceUri: "github|ui://view", visibility: ["model"] },
        "ui/resourceUri": "github|ui://view",
      });
    }
  });

  test("leaves phrases out of _meta: they are for the search", () => {
    const metaOf = (_meta: JsonObject) => first({ needs: [{ query: "x", hits: [hit({ _meta })] }] })["_meta"];
    expect(metaOf({ "toolyard/phrases": ["report a bug"], v: 1 })).toEqual({ v: 1 });
    expect(metaOf({ "toolyard/phrases": ["report a bug"] })).toBeUndefined();
  });

  test("of a _meta that is too long only the app's resource stays, and the result says so", () => {
    const _meta = { "vendor/x": "word ".repeat(5000), ui: { resourceUri: "ui://view" } };
    expect(first({ needs: [{ query: "x", hits: [hit({ _meta })] }] })).toMatchObject({
      _meta: { ui: { resourceUri: "github|ui://view" } },
      cut: true,
    });
  });

  test("says where the rest is when something was cut", () => {
    const answer = answerOf({ needs: [{ query: "x", hits: many(1) }] });
    expect(answer.tools[0]).toHaveProperty("cut", true);
    expect(answer["hint"]).toContain('detail: "schema"');
    expect(answerOf()).not.toHaveProperty("hint");
  });

  test("a schema that is too large even alone: says so, and does not ask to ask again", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`field_${at}`, { type: "string", description: "what it is for" }]),
    );
    const large = hit({ inputSchema: { type: "object", properties } });
    const alone = answerOf({ detail: "schema", needs: [{ query: "x", hits: [large] }] });
    expect(alone.tools[0]).toHaveProperty("cut", true);
    expect(alone["hint"]).toMatch(/too large for an answer/);
    expect(answerOf({ detail: "schema", needs: [{ query: "x", hits: [large, ...many(1)] }] })["hint"]).toMatch(/alone/);
  });

  test("tells the status of servers that are neither online nor dormant", () => {
    const statusOf = (status: NonNullable<DiscoverHit["status"]>): unknown =>
      first({ needs: [{ query: "x", hits: [hit({}, { status })] }] })["status"];
    expect(["online", "dormant", "connecting"].map((status) => statusOf(status as "online"))).toEqual([
      undefined,
      undefined,
      "connecting",
    ]);
  });

  test("falls back to the title, then to the name", () => {
    const without = (definition: JsonObject): unknown => {
      const made = hit();
      const tool = {
        ...made.tool,
        definition: { name: "create_issue", inputSchema: {}, ...definition },
      };
      return first({ needs: [{ query: "x", hits: [{ ...made, tool }] }] })["description"];
    };
    expect(without({ title: "New issue" })).toBe("New issue");
    expect(without({})).toBe("create_issue");
  });

  test("several needs: tools merged, each once, grouped beside", () => {
    const other = toHit({ ...issue, id: "gitlab:create_issue" });
    const answer = answerOf({
      grouped: true,
      needs: [
        { query: "create an issue", hits: [hit({}, { distance: 0.2 }), other] },
        { query: "open a ticket", hits: [hit({}, { distance: 0.1 })] },
      ],
    });
    expect(answer.tools.map((tool) => [tool["tool_path"], tool["relevance_score"]])).toEqual([
      ["github:create_issue", 0.1],
      ["gitlab:create_issue", 0.031],
    ]);
    expect(answer).toMatchObject({
      query: "create an issue | open a ticket",
      needs: [
        { query: "create an issue", tool_paths: ["github:create_issue", "gitlab:create_issue"] },
        { query: "open a ticket", tool_paths: ["github:create_issue"] },
      ],
    });
  });

  test("says how well it fits, per need and at all, and what to do when nothing does", () => {
    const needs = [
      { query: "create an issue", match: "good", hits: [hit()] },
      { query: "book a flight", match: "none", hits: [hit({}, { distance: 0.9 })] },
    ] as const;
    const both = answerOf({ grouped: true, needs });
    expect(both).toMatchObject({ match: "good", needs: [{ match: "good" }, { match: "none" }] });
    expect(both).not.toHaveProperty("hint");
    const none = answerOf({ needs: needs.slice(1) });
    expect(none).toMatchObject({ match: "none", tools: [{ tool_path: "github:create_issue" }] });
    expect(none["hint"]).toMatch(/nearest/);
    expect(answerOf()).not.toHaveProperty("match");
  });

  test("an answer where nothing fits stays within its tokens too", () => {
    const needs = [{ query: "x", match: "none", hits: many(40) }] as const;
    const text = renderDiscover(findings({ needs, unavailableOthers: 7, maxTokens: 700 }));
    expect(countTokens(text)).toBeLessThanOrEqual(700);
  });

  test("servers that have nothing to do with the question are one number", () => {
    const lines = Array.from({ length: 10 }, (_, at) => unavailableLine({ server: `s${at}`, status: "error" }));
    expect(answerOf({ unavailable: lines.slice(0, 1), unavailableOthers: 7 })).toMatchObject({
      unavailable: [{ server: "s0" }],
      unavailable_others: 7,
    });
    expect(answerOf({ unavailable: lines, unavailableOthers: 7 })).toMatchObject({ unavailable_others: 9 });
    expect(answerOf({ unavailable: lines.slice(0, 1) })).not.toHaveProperty("unavailable_others");
    const nothing = answerOf({ needs: [{ query: "x", match: "none", hits: [] }], unavailableOthers: 7 });
    expect(nothing["hint"]).toMatch(/cannot be used now/);
  });

  test("nothing found, and nothing usable, are different answers", () => {
    const unavailable = [unavailableLine({ server: "github", status: "requires_reauth" })];
    expect(answerOf({ needs: [{ query: "x", hits: [] }] })["hint"]).toMatch(/No tool matches/);
    expect(answerOf({ needs: [{ query: "x", hits: [] }], unavailable })).toMatchObject({
      unavailable,
      hint: expect.stringMatching(/unavailable/) as unknown,
    });
  });

  test("says what was cut from the query and what the search had to do without", () => {
    expect(answerOf({ queryCut: true, degraded: "embeddings" })).toMatchObject({
      query_cut: expect.stringMatching(/1,000/) as unknown,
      degraded: "embeddings",
    });
  });

  test.each([
    [Number.NaN, 1],
    [-3, 0],
    [7, 1],
    [0.123456, 0.123],
  ])("a distance of %d is shown as %d", (distance, shown) => {
    expect(first({ needs: [{ query: "x", hits: [hit({}, { distance })] }] })["relevance_score"]).toBe(shown);
  });
});

function lengthOf(tool: JsonObject | undefined, field: string): number {
  return String(tool?.[field]).length;
}

describe("siblings", () => {
  const entry = (server: string, name: string): ToolEntry => ({
    ...hit().tool,
    server: server as ToolEntry["server"],
    path: `${server}:${name}` as ToolEntry["path"],
  });
  const ofServer = (server: string, count: number): ToolEntry[] =>
    Array.from({ length: count }, (_, at) => entry(server, `do_thing_${at}`));
  const hitsOf = (...servers: readonly string[]): DiscoverHit[] =>
    servers.map((server) => ({ ...hit(), tool: entry(server, "do_thing_0") }));

  test("other tools of the best four servers are named, each once, none that is shown", () => {
    const { more } = answerOf({
      needs: [{ query: "x", match: "good", hits: hitsOf("a", "b", "a", "c", "d", "e") }],
      toolsOf: (server) => ofServer(server, 3),
    });
    expect(more).toEqual(Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, ["do_thing_1", "do_thing_2"]])));
  });

  test("never cost more than 150 tokens, and never more than the answer has left", () => {
    const needs = [{ query: "x", match: "weak", hits: hitsOf("a", "b") } as const];
    const toolsOf = (server: string): ToolEntry[] => ofServer(server, 500);
    const costOf = (options: Partial<DiscoverFindings>): number =>
      countTokens(renderDiscover(findings({ needs, ...options, toolsOf }))) -
      countTokens(renderDiscover(findings({ needs, ...options })));
    expect(costOf({})).toBeGreaterThan(80);
    expect(costOf({})).toBeLessThanOrEqual(150);
    for (const maxTokens of [10, 200, 300, 400])
      expect(
        costOf({ maxTokens }) <= 0 || countTokens(renderDiscover(findings({ needs, toolsOf, maxTokens }))) <= maxTokens,
      ).toBe(true);
  });

  test("are not named where nothing fits, or where a server has nothing else", () => {
    const needs = [{ query: "x", match: "none", hits: hitsOf("a") } as const];
    expect(answerOf({ needs, toolsOf: (server) => ofServer(server, 3) })).not.toHaveProperty("more");
    const fitting = [{ query: "x", match: "good", hits: hitsOf("a") } as const];
    expect(answerOf({ needs: fitting, toolsOf: (server) => ofServer(server, 1) })).not.toHaveProperty("more");
  });
});

describe("the token budget", () => {
  test.each(["names", "signature", "schema"] as const)("holds for fifty results in detail %s", (detail) => {
    for (const maxTokens of [4000, 1500, 600]) {
      const text = renderDiscover(
        findings({ detail, maxTokens, needs: [{ query: "x", hits: many(50) }], totalFound: 50 }),
      );
      const answer = JSON.parse(text) as Answer;
      expect(countTokens(text)).toBeLessThanOrEqual(maxTokens);
      expect(answer.tools.length + (answer.left_out ?? 0)).toBe(50);
    }
  });

  test("holds for needs that share it, and for long queries", () => {
    const needs = Array.from({ length: 10 }, (_, at) => ({
      query: `${at} ${"漢字".repeat(500)}`,
      hits: many(50),
    }));
    expect(countTokens(renderDiscover(findings({ grouped: true, needs })))).toBeLessThanOrEqual(4000);
  });

  test("shortens descriptions before signatures before it drops results, the last ones first", () => {
    const needs = [{ query: "x", hits: many(20) }];
    const shown = (maxTokens: number): Answer => answerOf({ maxTokens, needs });
    const { tools } = shown(4000);
    const full = estimateTokens(renderDiscover(findings({ needs })));
    const less = shown(full - 40).tools;
    expect(less.map((tool) => tool["input"])).toEqual(tools.map((tool) => tool["input"]));
    expect(less[0]).toEqual(tools[0]);
    expect(lengthOf(less[19], "description")).toBeLessThan(lengthOf(tools[19], "description"));
    const least = shown(full - 700).tools;
    expect(least).toHaveLength(20);
    expect(lengthOf(least[19], "input")).toBeLessThan(lengthOf(tools[19], "input"));
    expect(least[0]?.["input"]).toBe(tools[0]?.["input"]);
    expect(shown(800).left_out).toBeGreaterThan(0);
  });

  test("one result stays, however small the budget", () => {
    expect(answerOf({ maxTokens: 10, needs: [{ query: "x", hits: many(5) }] }).tools).toHaveLength(1);
  });
});

describe("FAULT 40: hidden characters", () => {
  test("are taken out of descriptions and flagged", () => {
    const shown = first({
      needs: [{ query: "x", hits: [hit({ description: "Create\u200b an issue.\u{e0049}\u{e0067}" })] }],
    });
    expect(shown).toMatchObject({
      description: "Create an issue.",
      flagged: "hidden characters removed",
    });
  });

  test("are written as escapes where they must arrive: schemas, paths, _meta", () => {
    const inputSchema = {
      type: "object",
      properties: { "na\u200bme": { type: "string", description: "x\u202ey" } },
    };
    const text = renderDiscover(
      findings({
        detail: "schema",
        needs: [{ query: "x", hits: [hit({ inputSchema, _meta: { "k\u2060": 1 } })] }],
      }),
    );
    expect(text).not.toMatch(/[\u200b\u202e\u2060]/);
    expect((JSON.parse(text) as Answer).tools[0]).toMatchObject({
      inputSchema,
      _meta: { "k\u2060": 1 },
    });
  });
});

test("FAULT 61: tools with hostile schemas have a result in every detail", () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 10_000; level += 1) deep = { type: "object", properties: { in: deep } };
  const schemas: JsonObject[] = [deep, { anyOf: Array.from({ length: 20_000 }, () => ({ type: "string" })) }];
  for (const inputSchema of schemas) {
    for (const detail of ["names", "signature", "schema"] as const) {
      const tools = hit({ inputSchema, outputSchema: inputSchema });
      expect(answerOf({ detail, needs: [{ query: "x", hits: [tools] }] }).tools).toHaveLength(1);
    }
  }
});

test("results over the tools of public servers cost what they may", () => {
  const figures = measureTokens(readPublicTools());
  expect(figures.first.median).toBeLessThanOrEqual(70);
  expect(figures.first.p90).toBeLessThanOrEqual(130);
  expect(figures.later.median).toBeLessThanOrEqual(70);
  expect(figures.later.p90).toBeLessThanOrEqual(130);
  expect(figures.answerOfTen.median).toBeLessThanOrEqual(900);
  expect(figures.estimate.least).toBeGreaterThan(0.93);
  expect(figures.estimate.most).toBeLessThan(1.13);
});
