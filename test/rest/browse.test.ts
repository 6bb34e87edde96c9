import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startManyServers, type ManyServers } from "../harness/many-servers.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

describe("browsing over REST", () => {
  let gateway: RunningGateway;
  let servers: ManyServers;

  beforeAll(async () => {
    servers = await startManyServers([
      {
        key: "my-mail",
        tools: [
          { name: "send", description: "Sends a mail", annotations: { readOnlyHint: false } },
          { name: "read", description: "Reads a mail", annotations: { readOnlyHint: true } },
          { name: "secret" },
        ],
      },
      { key: "other", tools: [] },
    ]);
    gateway = await startGateway({
      config: {
        mcpServers: {
          "my-mail": {
            ...servers.mcpServers["my-mail"],
            displayName: "My mail",
            icon: "https://example.com/icon.png",
            category: "communication",
            priority: "high",
            tools: { deny: ["secret"] },
          },
          other: servers.mcpServers["other"],
          files: badServer("--behaviours=canary", "--resources"),
          off: { command: "nothing", disabled: true },
        },
      },
    });
    await untilOnline(gateway.url);
    await until(async () => (await get(`${gateway.url}/namespaces`)).json.namespaces[0].loaded);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  test("GET /namespaces has exactly the agreed shape", async () => {
    const { json, headers } = await get(`${gateway.url}/namespaces`);
    expect(Object.keys(json)).toEqual(["namespaces"]);
    expect(json.namespaces.map((one: { name: string }) => one.name)).toEqual(["my_mail", "other", "files"]);
    expect(json.namespaces[0]).toEqual({
      name: "my_mail",
      displayName: "My mail",
      icon: "https://example.com/icon.png",
      category: "communication",
      priority: "high",
      toolCount: 2,
      loaded: true,
    });
    expect(json.namespaces[1]).toEqual({
      name: "other",
      displayName: "other",
      icon: null,
      category: null,
      priority: "normal",
      toolCount: 0,
      loaded: false,
    });
    expect(headers["content-type"]).toContain("application/json");
  });

  test("GET /list/apps has exactly the agreed shape, and status when asked for it", async () => {
    const { json } = await get(`${gateway.url}/list/apps`);
    expect(json[0]).toEqual({
      name: "my-mail",
      namespace: "my_mail",
      icon: "https://example.com/icon.png",
      category: "communication",
      toolCount: 2,
    });
    expect((await get(`${gateway.url}/list/apps?status=true`)).json[0]).toMatchObject({
      name: "my-mail",
      status: "online",
    });
  });

  test.each(["my-mail", "my_mail", "My mail", "my mail"])(
    "GET /list/apps/%s/tools loads the app and gives its MCP tools",
    async (app) => {
      const { json, status } = await get(`${gateway.url}/list/apps/${encodeURIComponent(app)}/tools?namespace=my_mail`);
      expect(status).toBe(200);
      expect(Object.keys(json)).toEqual(["namespace", "tools", "metadata"]);
      expect(json.tools).toEqual([
        {
          inputSchema: { type: "object" },
          name: "send",
          description: "Sends a mail",
          annotations: { readOnlyHint: false },
        },
        {
          inputSchema: { type: "object" },
          name: "read",
          description: "Reads a mail",
          annotations: { readOnlyHint: true },
        },
      ]);
      expect(json.metadata).toEqual({
        loadedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        toolCount: 2,
        category: "communication",
      });
    },
  );

  test("an unknown app and a namespace that it does not have are 404 with the closest names", async () => {
    const unknown = await get(`${gateway.url}/list/apps/my-mial/tools`);
    expect(unknown.json).toMatchObject({
      status: 404,
      code: "SERVER_UNKNOWN",
      closest: expect.arrayContaining(["my-mail"]),
      hint: expect.any(String),
    });
    expect((await get(`${gateway.url}/list/apps/my-mail/tools?namespace=other`)).status).toBe(404);
  });

  test.each([
    "/namespaces",
    "/list/apps",
    "/api/tools",
    "/api/servers",
    "/api/instances",
    "/api/resources",
    "/list/apps/other/tools",
    "/api/tools/my-mail:send",
  ])("%s has an ETag, and 304 for who has it", async (path) => {
    const first = await get(gateway.url + path);
    const { etag } = first.headers;
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await get(gateway.url + path, { "if-none-match": `"other", W/${etag}` });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, "", etag]);
    expect((await get(gateway.url + path, { "if-none-match": '"other"' })).status).toBe(200);
  });

  test("policy holds as over MCP: a denied tool is neither listed nor called", async () => {
    expect((await get(`${gateway.url}/api/tools/my-mail:secret`)).status).toBe(404);
    expect((await run(gateway.url, "my-mail:secret")).status).toBe(404);
    expect((await get(`${gateway.url}/api/tools?server=my-mail`)).json.total).toBe(2);
  });

  test("GET /api/tools finds tools with words, says what they say of themselves, and has the dearest first", async () => {
    const listed = async (query: string) =>
      (await get(`${gateway.url}/api/tools?${query}`)).json as {
        readonly total: number;
        readonly tools: readonly { tool_path: string; annotations: object; tokens: number }[];
      };
    const found = await listed("match=MAIL%20a%20sends");
    expect([found.total, found.tools[0]]).toMatchObject([
      1,
      { tool_path: "my-mail:send", annotations: { readOnlyHint: false } },
    ]);
    expect((await listed("match=mail&server=files")).total).toBe(0);
    const dearest = (await listed("sort=tokens&limit=1000")).tools.map(({ tokens }) => tokens);
    expect(dearest).toEqual(dearest.toSorted((one, other) => other - one));
    expect(new Set(dearest).size).toBeGreaterThan(1);
  });

  test("GET /api/tools lists in pages, filters and searches as discover_mcp_tools does", async () => {
    const page = (await get(`${gateway.url}/api/tools?limit=2`)).json;
    expect([page.tools.length, page.next_cursor, page.total]).toEqual([2, "2", 3]);
    expect(
      (await get(`${gateway.url}/api/tools?limit=2&cursor=2`)).json.tools.map(
        (tool: { tool_path: string }) => tool.tool_path,
      ),
    ).toEqual(["files:canary"]);
    expect(
      (await get(`${gateway.url}/api/tools?readOnly=true&server=my_mail`)).json.tools.map(
        (tool: { name: string }) => tool.name,
      ),
    ).toEqual(["read"]);
    const found = (await get(`${gateway.url}/api/tools?query=${encodeURIComponent("send a mail")}`)).json;
    const mcp = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "discover_mcp_tools",
      arguments: { query: "send a mail" },
    });
    expect(found.tools).toEqual(JSON.parse(mcp.json.result.content[0].text).tools);
  });

  test.each(["-1", "0", "1e9", "NaN", "abc", "", "10"])("FAULT 63: limit %j is put right", async (limit) => {
    const listed = await get(`${gateway.url}/api/tools?limit=${limit}`);
    expect(listed.status).toBe(200);
    expect(listed.json.tools.length).toBeGreaterThan(0);
    expect((await get(`${gateway.url}/api/tools?limit=${limit}&query=mail`)).status).toBe(200);
  });

  test.each([
    ["my-mail:send", 200],
    ["my-mail-send", 200],
    ["my_mail__send", 200],
    ["my_mail.send", 200],
    ["nothing", 404],
  ])("GET /api/tools/%s is %i", async (name, status) => {
    const answer = await get(`${gateway.url}/api/tools/${encodeURIComponent(name)}`);
    expect(answer.status).toBe(status);
    if (status === 200)
      expect(answer.json).toMatchObject({
        tool_path: "my-mail:send",
        namespace: "my_mail",
        spellings: { flat: "my-mail-send", double_underscore: "my_mail__send", dot: "my_mail.send" },
        definition: { name: "send" },
      });
  });

  test("resources are listed and read as over MCP", async () => {
    const { json } = await get(`${gateway.url}/api/resources?server=files`);
    expect(json.total_resources).toBe(3);
    const { uri } = json.resources[0];
    const read = await get(`${gateway.url}/api/resources/read?uri=${encodeURIComponent(uri)}`);
    expect(read.json.contents[0]).toMatchObject({ uri: expect.stringMatching(/^toolyard:\/\/files\//) });
    expect(
      (await get(`${gateway.url}/api/resources/read?uri=${encodeURIComponent("files|bad://nothing")}`)).status,
    ).toBeGreaterThanOrEqual(400);
    expect((await get(`${gateway.url}/api/resources/read?uri=nowhere%3A%2F%2Fx`)).json.code).toBe("RESOURCE_UNKNOWN");
    expect((await get(`${gateway.url}/api/resources/read`)).json.code).toBe("PARAMS_INVALID");
  });

  test("servers and instances tell their status, also the disabled ones", async () => {
    const { servers: all } = (await get(`${gateway.url}/api/servers`)).json;
    expect(all.map((server: { slug: string; status: string }) => [server.slug, server.status])).toEqual([
      ["my-mail", "online"],
      ["other", "online"],
      ["files", "online"],
      ["off", "disabled"],
    ]);
    const { instances } = (await get(`${gateway.url}/api/instances`)).json;
    expect(instances[0]).toMatchObject({
      id: "my-mail",
      server: "my-mail",
      scope: "shared",
      endpoint: "/i/my-mail/mcp",
      toolCount: 2,
    });
    expect((await get(`${gateway.url}/api/instances/files`)).json.stderr).toEqual(expect.any(Array));
  });

  test("an instance can be refreshed, stopped and restarted; a stopped one says what to do", async () => {
    expect((await post(`${gateway.url}/api/servers/files/refresh`)).json).toMatchObject({
      slug: "files",
      status: "online",
    });
    expect((await post(`${gateway.url}/api/instances/files/refresh`)).json).toMatchObject({
      id: "files",
      status: "online",
    });
    const pid = (await run(gateway.url, "files:canary")).json.result.structuredContent.pid;
    expect((await post(`${gateway.url}/api/instances/files/stop`)).json).toMatchObject({ status: "disabled" });
    expect((await run(gateway.url, "files:canary")).json).toMatchObject({ status: 503, code: "SERVER_STOPPED" });
    expect((await post(`${gateway.url}/api/instances/files/restart`)).json).toMatchObject({ status: "online" });
    expect((await run(gateway.url, "files:canary")).json.result.structuredContent.pid).not.toBe(pid);
  });

  test("the statistics count loads, hits and uses by namespace and tool", async () => {
    await run(gateway.url, "my-mail:send");
    const stats = (await get(`${gateway.url}/api/namespaces/stats`)).json;
    expect(stats.loads).toBeGreaterThanOrEqual(1);
    expect(stats.hits).toBeGreaterThanOrEqual(1);
    expect(stats.loaded.map((one: { name: string }) => one.name)).toContain("my_mail");
    expect(stats.namespaces.find((one: { name: string }) => one.name === "my_mail")).toMatchObject({
      calls: expect.any(Number),
      tools: { send: expect.any(Number) },
    });
  });

  test("metrics are Prometheus text with bounded labels", async () => {
    const { text, headers } = await get(`${gateway.url}/metrics`);
    expect(headers["content-type"]).toContain("text/plain");
    expect(text).toMatch(/^toolyard_calls_total\{server="my-mail",method="tools\/call",outcome="ok"\} \d+$/m);
    expect(text).toMatch(/^toolyard_call_duration_seconds_bucket\{.*le="\+Inf".*\} \d+$/m);
    expect(text).toMatch(/^toolyard_instances\{status="online"\} 3$/m);
    expect(text).toMatch(/^toolyard_namespace_loads_total\{why="preload"\} \d+$/m);
    expect(text).not.toContain("secret");
  });

  test("the inside is shown only when configured", async () => {
    expect((await get(`${gateway.url}/api/status/debug`)).json).toMatchObject({ status: 404, code: "ROUTE_UNKNOWN" });
    await using open = await startGateway({ config: { mcpServers: {} }, env: { TOOLYARD_DEBUG_ROUTE: "true" } });
    expect((await get(`${open.url}/api/status/debug`)).json).toMatchObject({ node: process.version, in_flight: 0 });
  });
});
