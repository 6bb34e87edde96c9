import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../../harness/gateway.ts";
import { execute, rpc, send } from "../../harness/rpc.ts";
import { discover, failureOf, startFaulty, untilOnline, type FaultyGateway } from "../servers/faulty-gateway.ts";

const odd = [
  "two words",
  "emoji 😀",
  "line\nbreak",
  "nul\u0000byte",
  "../up",
  "__proto__",
  "constructor",
  "toString",
  "ünï",
  "a:b",
  "a|b",
  "a.b",
  "x".repeat(1_000),
  "x".repeat(999) + "y",
  "-lead",
  "trail-",
  "__",
  ":",
];
const metaNames = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
/** An argument cannot hold NUL: such names are written with JSON's escapes. */
const escaped = (name: string): string => JSON.stringify(name).slice(1, -1).replaceAll("\\n", "\\u000a");

describe("names that nobody should choose", () => {
  let gateway: FaultyGateway;

  beforeAll(async () => {
    gateway = await startFaulty({
      servers: {
        odd: badServer(
          "--server-name",
          "odd",
          ...["", "y".repeat(5_000), ...odd].map((name) => `--tool-name=${escaped(name)}`),
        ),
        twins: badServer("--duplicate", "--behaviours", "none", "--server-name", "twins"),
        meta: badServer(
          "--only-canaries",
          "--server-name",
          "meta",
          ...metaNames.flatMap((name) => ["--tool-name", name]),
        ),
        many: badServer("--tools", "10000", "--page-size", "500", "--behaviours", "echo"),
        "too-many": badServer("--tools", "25000", "--page-size", "5000"),
        endless: badServer("--endless-pages"),
        repeating: badServer("--repeat-cursor", "--tool-name", "once"),
        // 14,000 descriptions of 4 KB in one message.
        heavy: badServer("--tools", "14000", "--description", "d".repeat(4_000)),
        malformed: badServer("--malformed", "--tool-name", "sound"),
        bombs: badServer("--schema-bomb", "deep-10000", "--schema-bomb", "ref-cycle", "--tool-name", "sound"),
      },
    });
    await untilOnline(
      gateway,
      "odd",
      "twins",
      "meta",
      "many",
      "too-many",
      "endless",
      "repeating",
      "malformed",
      "bombs",
    );
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  });

  async function list(endpoint: string): Promise<{ name: string; description?: string }[]> {
    const tools: { name: string }[] = [];
    let cursor: string | undefined;
    do {
      const { result } = (await rpc(`${gateway.url}${endpoint}`, "tools/list", cursor === undefined ? {} : { cursor }))
        .json;
      tools.push(...result.tools);
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    return tools;
  }

  test("FAULT 55: odd tool names are shown as clients take them, and every one is callable", async () => {
    const flat = (await list("/mcp/flat"))
      .map(({ name }) => name)
      .filter((name) => name.startsWith("odd-") || name.startsWith("odd_"));
    expect(flat).toHaveLength(odd.length);
    expect(new Set(flat).size).toBe(odd.length);
    const called = new Set<string>();
    for (const name of flat) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const answer = await rpc(`${gateway.url}/mcp/flat`, "tools/call", { name, arguments: {} });
      called.add(answer.json.result.structuredContent.tool);
    }
    expect([...called].sort()).toEqual([...odd].sort());
    for (const name of odd)
      expect((await execute(gateway.url, `odd:${name}`)).structuredContent, name.slice(0, 20)).toMatchObject({
        server: "odd",
        tool: name,
      });
    for (const reason of ["its name is empty", "its name is longer than"])
      expect(gateway.logged(reason)).toHaveLength(1);
    await gateway.stillServes();
  });

  test("FAULT 56: of two tools of one name the first is kept, and the second is warned about", async () => {
    const twins = await list("/mcp/server/twins");
    expect(twins).toMatchObject([{ name: "twin", description: "The first" }]);
    expect(gateway.logged('\\"twin\\" is skipped: listed twice')).toHaveLength(1);
    await gateway.stillServes();
  });

  test("FAULT 57: a server's tool cannot shadow one of the four", async () => {
    expect((await list("/mcp")).map(({ name }) => name)).toEqual(metaNames);
    for (const name of metaNames) {
      expect((await execute(gateway.url, `meta:${name}`)).structuredContent).toMatchObject({
        server: "meta",
        tool: name,
      });
      expect((await execute(gateway.url, name)).structuredContent).toMatchObject({ server: "meta", tool: name });
    }
    const found = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "discover_mcp_tools",
      arguments: { query: "echo" },
    });
    expect(JSON.parse(found.json.result.content[0].text)).toHaveProperty("tools");
    await gateway.stillServes();
  });

  test("FAULT 58: ten thousand tools are paged, more than the limit are cut, fifty megabytes are refused", async () => {
    const many = await list("/mcp/server/many");
    expect(many).toHaveLength(10_001);
    expect(await list("/mcp/server/too-many")).toHaveLength(20_000);
    expect(gateway.logged("more than 20000 items")).toHaveLength(1);
    const listed = await discover(gateway, { query: "" });
    expect(listed.servers.find((row: { server: string }) => row.server === "many")).toMatchObject({ tools: 10_001 });
    const heavy = failureOf(await execute(gateway.url, "heavy:tool-1"));
    expect(heavy.message).toMatch(/longer than 16777216 bytes|starting/);
    expect(gateway.logged("sent a line longer than 16777216 bytes").length).toBeGreaterThan(0);
    await gateway.stillServes();
  });

  test("FAULT 59: endless pages and repeated cursors come to an end, and a cursor is good only where it was given", async () => {
    expect(await list("/mcp/server/endless")).toHaveLength(1_000);
    expect(gateway.logged("more than 1000 pages")).toHaveLength(1);
    expect(await list("/mcp/server/repeating")).toHaveLength(1);
    expect(gateway.logged("repeats a cursor")).toHaveLength(1);
    const { nextCursor } = (await rpc(`${gateway.url}/mcp/server/many`, "tools/list")).json.result;
    for (const [endpoint, cursor] of [
      ["/mcp/flat", nextCursor],
      ["/mcp/server/many", `${nextCursor.slice(0, -4)}AAAA`],
      ["/mcp/server/many", "1"],
      ["/mcp/server/many", 1],
    ] as const) {
      expect((await rpc(`${gateway.url}${endpoint}`, "tools/list", { cursor })).json.error.code).toBe(-32602);
    }
    await gateway.stillServes();
  });

  test("FAULT 60: a hundred lists are one and the same", async () => {
    const flat = await send(`${gateway.url}/mcp/flat`, {
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
    const seen = new Set<string>();
    for (let count = 0; count < 100; count += 1) {
      const again = await send(`${gateway.url}/mcp/flat`, {
        headers: { "content-type": "application/json" },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      });
      seen.add(hash(again.text));
    }
    expect([...seen]).toEqual([hash(flat.text)]);
    await gateway.stillServes();
  });

  test("FAULT 63: a limit outside its range is clamped", async () => {
    for (const [limit, most] of [
      [-1, 1],
      [0, 1],
      [1e9, 50],
      ["10", 10],
      ["no number", 10],
      [null, 10],
      [2.9, 2],
    ] as const) {
      const found = await discover(gateway, { query: "tool number", limit, detail: "names" });
      expect(found.tools.length, String(limit)).toBeLessThanOrEqual(most);
      expect(found.tools.length, String(limit)).toBeGreaterThan(0);
    }
    await gateway.stillServes();
  });

  test("malformed tools are mended, all named in one warning, and hide nothing", async () => {
    const { tools } = ListToolsResultSchema.parse(
      (await rpc(`${gateway.url}/mcp/server/malformed`, "tools/list")).json.result,
    );
    const mended = ["schema-string", "schema-null", "schema-missing", "description-object"];
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["sound", "schema-array", ...mended]));
    const [line, ...more] = gateway.logged("tools have odd definitions");
    expect(more).toEqual([]);
    expect(JSON.stringify(line)).toContain("schema-null (inputSchema is null)");
  });

  test("FAULT 61: a definition that nests too deeply hides no other tool", async () => {
    expect((await list("/mcp/server/bombs")).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["sound", "bomb-ref-cycle"]),
    );
    expect(gateway.logged('\\"bomb-deep-10000\\" is left out')).toHaveLength(1);
    await gateway.stillServes();
  });
});
