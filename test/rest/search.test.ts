import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SearchReport } from "../../src/catalog/exposure/discover/search-report.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, knownPeople } from "../harness/known-people.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { modernRpc } from "../harness/rpc.ts";

async function search(url: string, body: object, headers: Record<string, string> = {}): Promise<SearchReport> {
  const { status, json } = await post(`${url}/api/search`, body, headers);
  expect(status).toBe(200);
  return json as SearchReport;
}

describe("POST /api/search", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      config: { mcpServers: { one: badServer(), two: badServer("--behaviours=image") } },
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test("finds what GET /api/tools finds, in the same order and with the same distances", async () => {
    for (const query of [
      "a picture",
      "count calls of this process",
      "xqzzy",
      "structured",
      "ask the user for a name",
    ]) {
      const { json } = await get(`${gateway.url}/api/tools?query=${encodeURIComponent(query)}&limit=50`);
      const plain = (json.tools as { tool_path: string; relevance_score: number }[]).map((tool) => [
        tool.tool_path,
        tool.relevance_score,
      ]);
      for (const explain of [false, true]) {
        const { queries } = await search(gateway.url, { query, limit: 50, explain });
        expect(queries[0]?.tools.map((tool) => [tool.tool_path, tool.relevance_score])).toEqual(plain);
        expect(queries[0]?.match).toBe(json.match);
      }
    }
  });

  test("says why each tool was found when it is asked to, in shares that add up to its score", async () => {
    const report = await search(gateway.url, { query: "return a picture", explain: true });
    expect(report).toMatchObject({ engine: "lexical", failed: null, degraded: null, query_cut: false });
    expect(report.answer_tokens).toBeGreaterThan(0);
    const [best] = report.queries[0]?.tools ?? [];
    const why = best?.explanation;
    expect(best?.tool_path).toMatch(/:image$/);
    expect(why?.words.find(({ asked }) => asked === "picture")?.found[0]).toMatchObject({
      word: "image",
      relation: "synonym",
    });
    const parts = [
      ...(why?.words ?? []),
      ...(why?.phrases ?? []),
      why?.coverage,
      why?.intent,
      why?.serverFit,
      why?.learned,
    ];
    expect(parts.reduce((sum, part) => sum + (part?.share ?? 0), 0)).toBeCloseTo(1, 9);
    expect((await search(gateway.url, { query: "picture" })).queries[0]?.tools[0]).not.toHaveProperty("explanation");
  });

  test("has what a model would read, in the detail of choice, and says what that costs", async () => {
    const query = "return a picture";
    const [names, signatures, schemas] = await Promise.all(
      ["names", undefined, "schema"].map(
        async (detail) =>
          await search(gateway.url, { query, explain: true, ...(detail === undefined ? {} : { detail }) }),
      ),
    );
    const answered = (report: SearchReport | undefined): { readonly tools: readonly object[] } =>
      JSON.parse(report?.answer ?? "");
    expect(answered(schemas).tools[0]).toHaveProperty("inputSchema");
    expect(answered(signatures).tools[0]).not.toHaveProperty("inputSchema");
    expect(names?.answer_tokens).toBeLessThan(signatures?.answer_tokens ?? 0);
    expect(schemas?.answer_tokens).toBeGreaterThan(signatures?.answer_tokens ?? 0);
    expect(names?.queries).toEqual(signatures?.queries);
    expect(await search(gateway.url, { query })).not.toHaveProperty("answer");
    expect(await post(`${gateway.url}/api/search`, { query, detail: "all" })).toMatchObject({ status: 400 });
  });

  test("takes several needs, a server, a limit, and only tools that read", async () => {
    const { queries } = await search(gateway.url, { queries: ["picture", "sound"], limit: 2, server: "one" });
    expect(queries.map(({ query }) => query)).toEqual(["picture", "sound"]);
    for (const { tools } of queries) {
      expect(tools.length).toBeLessThanOrEqual(2);
      expect(tools.every(({ server }) => server === "one")).toBe(true);
    }
    const { queries: reading } = await search(gateway.url, { query: "hang", readOnly: true });
    expect(reading[0]?.tools.map(({ tool_path: path }) => path)).toEqual(["one:hang-read-only"]);
  });

  test.each([
    [{}, "PARAMS_INVALID"],
    [{ query: "  " }, "PARAMS_INVALID"],
    [{ query: 7 }, "PARAMS_INVALID"],
    [{ query: "x", explain: "yes" }, "PARAMS_INVALID"],
    [{ query: "x", as: "nobody" }, "PARAMS_INVALID"],
    [{ query: "x", server: "no-such" }, "SERVER_UNKNOWN"],
    ["[1]", "REQUEST_INVALID"],
  ])("%j is refused with %s", async (body, code) => {
    const { json } = await post(`${gateway.url}/api/search`, body);
    expect(json.code).toBe(code);
  });

  test("a trial teaches nothing, unless it is said to be more", async () => {
    const query = "zymurgy bottles";
    const likeness = async (): Promise<number> => {
      const { queries } = await search(gateway.url, { query, explain: true });
      const found = queries[0]?.tools.find(({ tool_path: path }) => path === "one:canary");
      return found?.explanation?.learned.likeness ?? 0;
    };
    await search(gateway.url, { query: `${query} canary` });
    await run(gateway.url, "one:canary");
    expect(await likeness()).toBe(0);
    await search(gateway.url, { query: `${query} canary`, learn: true });
    await run(gateway.url, "one:canary");
    expect(await likeness()).toBeGreaterThan(0);
  });
});

describe("searching as somebody else", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      config: {
        mcpServers: { own: { ...badServer("--behaviours=canary"), scope: "user" } },
        toolyard: {
          principals: knownPeople,
        },
      },
    });
    for (const person of ["alice", "bob", "root"]) await untilOnline(gateway.url, as(person));
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test("is for admins, and shows what that person's past use does", async () => {
    const body = { query: "zymurgy canary", explain: true };
    await modernRpc(
      `${gateway.url}/mcp`,
      "tools/call",
      { name: "discover_mcp_tools", arguments: { query: body.query } },
      {},
      as("alice"),
    );
    // The same client calls what it found.
    const call = { name: "execute_mcp_tool", arguments: { tool_path: "own:canary", arguments: {} } };
    await modernRpc(`${gateway.url}/mcp`, "tools/call", call, {}, as("alice"));
    const learned = async (of: string): Promise<number | undefined> => {
      const { queries } = await search(gateway.url, { ...body, as: of }, as("root"));
      return queries[0]?.tools[0]?.explanation?.learned.likeness;
    };
    expect(await learned("alice")).toBeGreaterThan(0);
    expect(await learned("bob")).toBe(0);
    expect((await post(`${gateway.url}/api/search`, { ...body, as: "alice" }, as("bob"))).json.code).toBe("FORBIDDEN");
    expect((await search(gateway.url, { ...body, as: "bob" }, as("bob"))).queries).toHaveLength(1);
  });
});
