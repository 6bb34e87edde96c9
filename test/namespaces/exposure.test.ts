import { request as httpRequest } from "node:http";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startManyServers, type ManyServers } from "../harness/many-servers.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const canaryTools = Array.from({ length: 3 }, (_, index) => ({
  name: `do_${index}`,
  description: `Does thing ${index}. It is ${index % 2 === 0 ? "even" : "odd"}.`,
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}));

async function names(gateway: RunningGateway): Promise<string[]> {
  const answer = await rpc(`${gateway.url}/mcp/namespaces`, "tools/list");
  return answer.json.result.tools.map((tool: { name: string }) => tool.name);
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function call(gateway: RunningGateway, name: string, args: unknown = {}): Promise<any> {
  const { result } = (await rpc(`${gateway.url}/mcp/namespaces`, "tools/call", { name, arguments: args })).json;
  return { isError: result.isError === true, ...JSON.parse(result.content[0].text) };
}

describe("the namespaces exposure", () => {
  let servers: ManyServers;
  let gateway: RunningGateway;

  beforeAll(async () => {
    servers = await startManyServers([
      { key: "work-mail", tools: canaryTools, instructions: "Mail of the office. More." },
      { key: "calendar", tools: [...canaryTools, { name: "list_tools" }, { name: "spaced name" }] },
      {
        key: "large",
        tools: Array.from({ length: 300 }, (_, index) => ({
          name: `tool_${index}`,
          description: `Handles document number ${index} of the archive`,
        })),
      },
      { key: "gone", tools: canaryTools },
      { key: "first", tools: canaryTools },
      { key: "second", tools: canaryTools },
    ]);
    const { first, second, ...plain } = servers.mcpServers;
    gateway = await startGateway({
      config: {
        mcpServers: {
          ...plain,
          first: { ...first, namespace: "shared" },
          second: { ...second, namespace: "shared" },
          off: { command: "x", disabled: true },
        },
        toolyard: { namespaces: { cacheTtlMs: 300_000 } },
      },
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  test("lists the help tool and one list_tools per namespace before anything is loaded", async () => {
    const listed = await names(gateway);
    expect(listed.slice(0, 5)).toEqual([
      "toolyard_help",
      "work_mail__list_tools",
      "calendar__list_tools",
      "large__list_tools",
      "gone__list_tools",
    ]);
    expect(listed.filter((name) => !name.includes("list_tools"))).toEqual(["toolyard_help"]);
    expect(listed.some((name) => name.startsWith("off__"))).toBe(false);
  });

  test("the help tool explains, and lists namespaces with category, tool count, loaded or not", async () => {
    const help = await call(gateway, "toolyard_help");
    expect(help.usage).toContain("list_tools");
    expect(help.namespaces[0]).toEqual({
      name: "work_mail",
      display_name: "work-mail",
      list_tools: "work_mail__list_tools",
      tools: 3,
      loaded: false,
    });
    expect(
      (await call(gateway, "toolyard_help", { query: "office" })).namespaces.map((one: { name: string }) => one.name),
    ).toEqual(["work_mail"]);
  });

  test("list_tools loads a namespace and gives its tools with signatures; they are then listed, and callable", async () => {
    const answer = await call(gateway, "work_mail__list_tools");
    expect(answer).toMatchObject({ namespace: "work_mail", loaded: true, total: 3 });
    expect(answer.tools[0]).toMatchObject({
      name: "work_mail__do_0",
      input: "{ path: string }",
      description: expect.stringContaining("Does thing 0"),
    });
    expect(await names(gateway)).toEqual(
      expect.arrayContaining(["work_mail__do_0", "work_mail__do_1", "work_mail__do_2"]),
    );
    expect(await call(gateway, "work_mail__do_1", { path: "x" })).toMatchObject({
      server: "work-mail",
      tool: "do_1",
      arguments: { path: "x" },
    });
    expect((await call(gateway, "toolyard_help", { query: "work_mail" })).namespaces[0].loaded).toBe(true);
  });

  test("a tool of a namespace that is not loaded can be called by name", async () => {
    expect(await names(gateway)).not.toContain("gone__do_0");
    expect(await call(gateway, "gone__do_0", { path: "x" })).toMatchObject({ server: "gone", tool: "do_0" });
    expect(await names(gateway)).not.toContain("gone__do_0");
  });

  test("a large namespace comes in pages and can be searched", async () => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await call(gateway, "large__list_tools", cursor === undefined ? {} : { cursor });
      found.push(...page.tools.map((tool: { name: string }) => tool.name));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(found).toHaveLength(300);
    expect(new Set(found).size).toBe(300);
    const searched = await call(gateway, "large__list_tools", { query: "Number 42 document" });
    expect(searched.tools.map((tool: { name: string }) => tool.name)).toEqual([
      "large__tool_42",
      "large__tool_142",
      "large__tool_242",
    ]);
    expect(await call(gateway, "large__list_tools", { cursor: "nobody's" })).toMatchObject({
      isError: true,
      code: "CURSOR_INVALID",
    });
    expect(await call(gateway, "large__list_tools", { query: 7 })).toMatchObject({
      isError: true,
      code: "ARGUMENTS_INVALID",
    });
  });

  test("FAULT 57: a server's own list_tools does not shadow ours, and is listed under a name of its own", async () => {
    const answer = await call(gateway, "calendar__list_tools");
    const own = answer.tools
      .map((tool: { name: string }) => tool.name)
      .find((name: string) => name.startsWith("calendar__list_tools_"));
    expect(answer.namespace).toBe("calendar");
    expect(await call(gateway, own)).toMatchObject({ server: "calendar", tool: "list_tools" });
    expect(await call(gateway, "calendar:list_tools")).toMatchObject({ server: "calendar", tool: "list_tools" });
    const listed = await names(gateway);
    expect(listed).toContain(own);
    expect(new Set(listed).size).toBe(listed.length);
    for (const name of listed) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test("two servers with one namespace both get another, and a warning names both", async () => {
    const { namespaces } = (await get(`${gateway.url}/namespaces`)).json;
    const shared = namespaces
      .filter((one: { name: string }) => one.name.startsWith("shared"))
      .map((one: { name: string }) => one.name);
    expect(shared).toHaveLength(2);
    expect(shared).not.toContain("shared");
    expect(gateway.stderr()).toMatch(/the namespace shared is that of first and second/);
    expect(await call(gateway, `${shared[0]}__do_0`, { path: "x" })).toMatchObject({ server: "first" });
    expect(await call(gateway, `${shared[1]}__do_0`, { path: "x" })).toMatchObject({ server: "second" });
    expect(await call(gateway, "shared__do_0", { path: "x" })).toMatchObject({
      isError: true,
      code: "TOOL_AMBIGUOUS",
      tool_paths: ["first:do_0", "second:do_0"],
    });
  });

  test("FAULT 60: the list is the same a hundred times", async () => {
    const first = await rpc(`${gateway.url}/mcp/namespaces`, "tools/list");
    for (let round = 0; round < 100; round += 1) {
      const again = await rpc(`${gateway.url}/mcp/namespaces`, "tools/list");
      expect(again.json.result).toEqual(first.json.result);
    }
  });

  test("what is loaded belongs to the principal, not to the connection: private, the same for every client", async () => {
    const modern = await modernRpc(`${gateway.url}/mcp/namespaces`, "tools/list");
    expect(modern.json.result.cacheScope).toBe("private");
    expect(modern.json.result.tools.map((tool: { name: string }) => tool.name)).toEqual(await names(gateway));
  });

  test("an unknown namespace and an unknown tool are errors that a model can act on", async () => {
    expect(await call(gateway, "nowhere__list_tools")).toMatchObject({
      isError: true,
      code: "TOOL_UNKNOWN",
      hint: "Call toolyard_help to see what exists.",
    });
    expect(await call(gateway, "work-mail:nothing")).toMatchObject({
      isError: true,
      code: "TOOL_UNKNOWN",
      tools_of_server: expect.arrayContaining(["work-mail:do_0"]),
    });
  });
});

test("loading tells legacy sessions and modern subscriptions", async () => {
  await using servers = await startManyServers(["one", "two"].map((key) => ({ key, tools: canaryTools })));
  await using gateway = await startGateway({ config: { mcpServers: servers.mcpServers } });
  await untilOnline(gateway.url);
  const url = `${gateway.url}/mcp/namespaces`;

  const legacy = new LegacyClient({ name: "test", version: "1" });
  let legacyChanges = 0;
  legacy.setNotificationHandler(ToolListChangedNotificationSchema, () => void (legacyChanges += 1));
  await legacy.connect(new LegacyHttp(new URL(url)) as never);
  let events = "";
  const stream = httpRequest(
    url,
    {
      method: "POST",
      agent: false,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      },
    },
    (response) => response.on("data", (chunk: Buffer) => (events += chunk.toString())),
  );
  stream.on("error", () => undefined);
  stream.end(
    JSON.stringify({
      jsonrpc: "2.0",
      id: "s",
      method: "subscriptions/listen",
      params: {
        notifications: { toolsListChanged: true },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  );
  await until(() => events.includes("acknowledged"));
  const modern = new ModernClient({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } } as never);
  await modern.connect(new ModernHttp(new URL(url)));
  expect((await legacy.listTools()).tools).toHaveLength(3);

  await modern.callTool({ name: "two__list_tools", arguments: {} });
  await until(() => events.includes("notifications/tools/list_changed"));
  expect((await modern.listTools()).tools.map((tool) => tool.name)).toContain("two__do_0");
  expect((await legacy.listTools()).tools.map((tool) => tool.name)).toContain("two__do_0");
  await modern.callTool({ name: "one__list_tools", arguments: {} });
  await until(() => legacyChanges > 0);
  expect((await legacy.callTool({ name: "one__do_0", arguments: { path: "x" } })).isError).not.toBe(true);
  stream.destroy();
  await modern.close();
  await legacy.close();
});

// test/faults/names/matrix.test.ts tries each path and each spelling of a name, with the names that a flat list has.
test("FAULT 53: 625 pairs of servers and tools stay 625 tools when all namespaces are loaded", async () => {
  const keys = [
    "a",
    "a-b",
    "a.b",
    "a_b",
    "a__b",
    "a_1mcp_b",
    "a-",
    "a_",
    "a.",
    "a--b",
    "a-.b",
    "a._b",
    "a_-b",
    "b",
    "b-c",
    "b.c",
    "b_c",
    "b__c",
    "a-b-c",
    "a.b.c",
    "a_b_c",
    "a__b__c",
    "a-b_c",
    "a_b-c",
    "ab",
  ];
  const tools = [
    "c",
    "b-c",
    "b:c",
    "b|c",
    "b.c",
    "b__c",
    "b/c",
    "b_1mcp_c",
    "-c",
    "_c",
    ".c",
    "__c",
    ":c",
    "|c",
    "/c",
    "c-",
    "c_",
    "c.",
    "c__",
    "c:",
    "c|",
    "c/",
    "list_tools",
    "toolyard_help",
    "b-c-d",
  ];
  await using servers = await startManyServers(keys.map((key) => ({ key, tools: tools.map((name) => ({ name })) })));
  await using gateway = await startGateway({
    config: { mcpServers: servers.mcpServers, toolyard: { namespaces: { maxLoaded: 100 } } },
  });
  await untilOnline(gateway.url);
  const { apps } = {
    apps: (await get(`${gateway.url}/list/apps`)).json as readonly { name: string; namespace: string }[],
  };
  expect(new Set(apps.map((app) => app.namespace)).size).toBe(keys.length);
  for (const app of apps)
    expect((await get(`${gateway.url}/list/apps/${app.name}/tools`)).json.tools).toHaveLength(tools.length);

  const seen = new Map<string, string>();
  const listed = (await names(gateway)).slice(1 + keys.length);
  expect(listed).toHaveLength(625);
  expect(new Set(listed).size).toBe(625);
  for (const name of listed) {
    const canary = await call(gateway, name);
    seen.set(name, `${canary.server}:${canary.tool}`);
  }
  expect(new Set(seen.values()).size).toBe(625);

  const spelling = async (name: string): Promise<string[]> => {
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: name },
    });
    const text = JSON.parse(answer.json.result.content[0].text);
    return text.code === "TOOL_AMBIGUOUS" ? text.tool_paths : [`${text.server}:${text.tool}`];
  };
  // Each namespace and each tool twice.
  for (const [at, app] of apps.entries())
    for (const tool of [tools[at], tools[(at + 7) % tools.length]])
      expect(await spelling(`${app.namespace}.${tool}`)).toContain(`${app.name}:${tool}`);
}, 300_000);
