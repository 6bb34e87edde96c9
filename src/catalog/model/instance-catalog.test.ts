import { describe, expect, test } from "vitest";
import type { ServerConfig } from "../../config/config.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { buildInstanceCatalog, type RawLists } from "./instance-catalog.ts";

const rules = { allow: undefined, deny: [], rename: {}, describe: {}, phrases: {} };

function build(
  lists: Partial<RawLists>,
  tools: Partial<ServerConfig["tools"]> = {},
  transport: object = { kind: "stdio", env: {} },
) {
  const server = { slug: "s", displayName: "S", transport, tools: { ...rules, ...tools } } as unknown as ServerConfig;
  const raw: RawLists = {
    tools: [],
    resources: [],
    templates: [],
    prompts: [],
    skills: [],
    serverInfo: {},
    instructions: undefined,
    capabilities: {},
    eras: ["legacy"],
    ttlMs: undefined,
    cacheScope: "public",
    transport: "stdio",
    ...lists,
  };
  return buildInstanceCatalog(server, "s" as InstanceId, raw);
}

const tool = (name: unknown, more: object = {}): object => ({ name, inputSchema: { type: "object" }, ...more });

describe("what a server lists", () => {
  test("good items are kept as they are, unknown fields and order included", () => {
    const written = { zeta: [1], name: "a", inputSchema: { type: "object", "x-y": null }, _meta: { v: 1 } };
    const { catalog, skipped } = build({ tools: [written] });
    expect(JSON.stringify(catalog.tools[0]?.definition)).toBe(JSON.stringify(written));
    expect(catalog.tools[0]).toMatchObject({ path: "s:a", upstreamName: "a" });
    expect(skipped).toEqual([]);
  });

  test("odd ones are mended, or left out one by one, each named with a reason", () => {
    const { catalog, skipped, mended } = build({
      tools: [
        tool("ok"),
        null,
        "x",
        [],
        tool(7),
        tool(""),
        tool("x".repeat(1_025)),
        { name: "no-schema" },
        tool("bad-output", { outputSchema: 1 }),
        tool("bad-text", { description: {} }),
        tool("null-text", { description: null }),
      ],
      resources: [{ uri: "a://b", name: "r" }, { uri: "" }, {}, { uri: "c://d", title: 1 }],
      templates: [{ uriTemplate: "t://{x}", name: "t" }, { uriTemplate: 1 }],
      prompts: [{ name: "p" }, { name: "q", arguments: {} }, null],
    });
    expect(catalog.tools.map((entry) => entry.upstreamName)).toEqual([
      "ok",
      "no-schema",
      "bad-output",
      "bad-text",
      "null-text",
    ]);
    expect(catalog.tools.slice(1).map(({ definition: { name: _name, ...rest } }) => rest)).toEqual(
      Array.from({ length: 4 }, () => ({ inputSchema: { type: "object" } })),
    );
    expect([catalog.resources.length, catalog.templates.length, catalog.prompts.length]).toEqual([2, 1, 2]);
    expect(mended.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      "no-schema: inputSchema is missing",
      "bad-output: outputSchema is a number",
      "bad-text: description is an object",
      "null-text: description is null",
      "c://d: title is a number, name is missing",
      "q: arguments is an object",
    ]);
    expect(skipped).toHaveLength(6 + 2 + 1 + 1);
    expect(skipped.every((item) => item.name !== "" && item.reason !== "")).toBe(true);
    expect(skipped.map((item) => item.name)).toEqual(expect.arrayContaining(["#1", "#5"]));
  });

  test("FAULT 56: of two of one name the first is kept", () => {
    const { catalog, skipped } = build({
      tools: [tool("a", { title: "1" }), tool("a", { title: "2" })],
      resources: [
        { uri: "x:y", name: "1" },
        { uri: "x:y", name: "2" },
      ],
    });
    expect(catalog.tools.map((entry) => entry.definition.title)).toEqual(["1"]);
    expect(catalog.resources).toHaveLength(1);
    expect(skipped.map((item) => item.reason)).toEqual([
      expect.stringContaining("twice"),
      expect.stringContaining("twice"),
    ]);
  });

  test("rename and describe change what clients see, not what goes upstream; two cannot be renamed into one", () => {
    const { catalog, skipped } = build(
      { tools: [tool("a"), tool("b"), tool("constructor")] },
      { rename: { a: "b" }, describe: { a: "told" } },
    );
    expect(catalog.tools.map((entry) => [entry.path, entry.upstreamName, entry.definition.description])).toEqual([
      ["s:b", "a", "told"],
      ["s:constructor", "constructor", undefined],
    ]);
    expect(skipped).toMatchObject([{ name: "b" }]);
  });

  test("configured phrases stand in the tool's _meta, in place of the server's, and make it another definition", () => {
    const listed = tool("a", { _meta: { "toolyard/phrases": ["theirs"], v: 1 } });
    const [plain, told, silenced] = [{}, { a: ["ours"], b: ["nobody's"] }, { a: [] }].map(
      (phrases) => build({ tools: [listed] }, { phrases }).catalog.tools[0],
    );
    expect(plain?.definition._meta).toEqual({ "toolyard/phrases": ["theirs"], v: 1 });
    expect(told?.definition._meta).toEqual({ "toolyard/phrases": ["ours"], v: 1 });
    expect(silenced?.definition._meta).toEqual({ "toolyard/phrases": [], v: 1 });
    expect(new Set([plain, told, silenced].map((entry) => entry?.hash)).size).toBe(3);
    const odd = build({ tools: [tool("a", { _meta: "text" })] }, { phrases: { a: ["ours"] } });
    expect(odd.catalog.tools[0]?.definition._meta).toEqual({ "toolyard/phrases": ["ours"] });
  });

  test("FAULT 45: a faulty x-mcp-header excludes a tool over HTTP, and is nobody's business on stdio", () => {
    const faulty = {
      name: "h",
      inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } },
    };
    expect(build({ tools: [faulty] }).catalog.tools).toHaveLength(1);
    expect(build({ tools: [faulty], transport: "http" }, {}, { kind: "http", headers: {} })).toMatchObject({
      catalog: { tools: [] },
      skipped: [{ name: "h" }],
    });
  });

  test("FAULT 52: what was fetched with credentials is private", () => {
    expect(build({}).catalog.cacheScope).toBe("public");
    expect(build({ cacheScope: "private" }).catalog.cacheScope).toBe("private");
    expect(build({}, {}, { kind: "stdio", env: { TOKEN: "t" } }).catalog.cacheScope).toBe("private");
    expect(build({}, {}, { kind: "http", headers: { Authorization: "Bearer t" } }).catalog.cacheScope).toBe("private");
  });

  test("the hash changes with the definition, and with nothing else", () => {
    const [first, same, other] = [tool("a"), tool("a"), tool("a", { title: "x" })].map(
      (definition) => build({ tools: [definition] }).catalog.tools[0]?.hash,
    );
    expect(first).toBe(same);
    expect(first).not.toBe(other);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
  });
});
