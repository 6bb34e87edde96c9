import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "./harness/gateway.ts";
import { startManyServers, type ManyServers } from "./harness/many-servers.ts";
import { get, run, untilOnline } from "./harness/rest.ts";
import { rpc } from "./harness/rpc.ts";

/** So many that whoever asks by a name waits until names are made. */
describe("thousands of tools", () => {
  let servers: ManyServers;
  let gateway: RunningGateway;

  beforeAll(async () => {
    const tools = Array.from({ length: 1_200 }, (_tool, at) => ({ name: `do-${at}` }));
    servers = await startManyServers([
      { key: "one-a", tools },
      { key: "two-b", tools: [...tools, { name: "alone" }] },
    ]);
    gateway = await startGateway({ config: { mcpServers: servers.mcpServers } });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  const called = async (endpoint: string, name: string, args: object = {}) =>
    JSON.stringify((await rpc(`${gateway.url}${endpoint}`, "tools/call", { name, arguments: args })).json);

  // Before any list was asked for, so that each is the first to need its table.
  test.each([
    ["/mcp", "two-b:alone"],
    ["/mcp", "alone"],
    ["/mcp", "two_b.alone"],
    ["/mcp/flat", "two-b-alone"],
    ["/mcp/flat", "two_b__alone"],
    ["/mcp/namespaces", "two_b__alone"],
    ["/mcp/namespaces", "two-b-alone"],
    ["/mcp/server/two-b", "alone"],
  ])("%s calls one by the name %s", async (endpoint, name) => {
    expect(await called(endpoint, name)).toContain("two-b");
    if (!endpoint.endsWith("two-b")) expect(await called(endpoint, `${name}-not`)).toContain("TOOL_UNKNOWN");
  });

  test.each(["two-b:alone", "two-b-alone", "two_b__alone", "two_b.alone", "alone"])(
    "execute_mcp_tool and REST call one by the name %s",
    async (name) => {
      expect(await called("/mcp", "execute_mcp_tool", { tool_path: name })).toContain("two-b");
      expect(await run(gateway.url, name)).toMatchObject({ status: 200, json: { tool_path: "two-b:alone" } });
      const shown = await get(`${gateway.url}/api/tools/${encodeURIComponent(name)}`);
      expect(shown.json.spellings).toMatchObject({ flat: "two-b-alone", double_underscore: "two_b__alone" });
    },
  );

  test("a name that several have, or nobody, is told as in a small view", async () => {
    expect((await run(gateway.url, "do-7")).json).toMatchObject({ code: "TOOL_AMBIGUOUS" });
    expect((await run(gateway.url, "two-b:do-1201")).json).toMatchObject({ code: "TOOL_UNKNOWN" });
    expect(await called("/mcp", "execute_mcp_tool", { tool_path: "do-7" })).toContain("one-a:do-7");
    expect(await called("/mcp", "discover_mcp_tools", { query: "alone" })).toContain("two-b:alone");
  });
});
