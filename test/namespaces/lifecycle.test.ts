import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startManyServers } from "../harness/many-servers.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { onlyPlace } from "../harness/places.ts";

const tools = [{ name: "first" }, { name: "second" }];

async function loadedNames(gateway: RunningGateway): Promise<string[]> {
  const { namespaces } = (await get(`${gateway.url}/namespaces`)).json as {
    namespaces: readonly { name: string; loaded: boolean }[];
  };
  return namespaces.filter((one) => one.loaded).map((one) => one.name);
}

test("loading asks a server again when its tools are older than the TTL; until then it does not", async () => {
  await using servers = await startManyServers([{ key: "one", tools }]);
  await using gateway = await startGateway({
    config: { mcpServers: servers.mcpServers },
    env: { TOOLYARD_CACHE_TIMEOUT: "1" },
  });
  await untilOnline(gateway.url);
  await get(`${gateway.url}/list/apps/one/tools`);
  servers.setTools("one", [...tools, { name: "third" }]);
  await until(async () => (await loadedNames(gateway)).length === 0);
  await until(async () => (await get(`${gateway.url}/list/apps/one/tools`)).json.tools.length === 3);
  expect(servers.lists("one")).toBeGreaterThan(1);
  const stats = (await get(`${gateway.url}/api/namespaces/stats`)).json;
  expect(stats.evictions).toBeGreaterThanOrEqual(1);
  expect((await get(`${gateway.url}/metrics`)).text).toMatch(
    /^toolyard_namespace_evictions_total\{why="idle"\} [1-9]/m,
  );
});

test("no more than the cap are loaded, preloaded ones stay, as the environment says", async () => {
  const keys = ["a", "b", "c", "d", "e"];
  await using servers = await startManyServers(keys.map((key) => ({ key, tools })));
  await using gateway = await startGateway({
    config: { mcpServers: servers.mcpServers },
    env: { TOOLYARD_MAX_NAMESPACES: "2", TOOLYARD_PRELOAD_NAMESPACES: "c", TOOLYARD_ENABLE_PARALLEL_LOADING: "false" },
  });
  await untilOnline(gateway.url);
  await until(async () => (await loadedNames(gateway)).includes("c"));
  await Promise.all(
    keys.map(async (key) => expect((await get(`${gateway.url}/list/apps/${key}/tools`)).json.tools).toHaveLength(2)),
  );
  const loaded = await loadedNames(gateway);
  expect(loaded).toHaveLength(2);
  expect(loaded).toContain("c");
  const listed = (await rpc(`${gateway.url}/mcp/namespaces`, "tools/list")).json.result.tools as readonly {
    name: string;
  }[];
  expect(listed).toHaveLength(1 + keys.length + 2 * 2);
  for (const key of keys) expect((await run(gateway.url, `${key}__first`)).json.success).toBe(true);
});

test("use is counted on disk; what was loaded and used most is loaded again in the next life", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-namespaces-"));
  try {
    const config = {
      mcpServers: {
        one: badServer("--behaviours=canary"),
        two: badServer("--behaviours=canary"),
        three: badServer("--behaviours=canary"),
      },
    };
    {
      await using first = await startGateway({ config, directory });
      await untilOnline(first.url);
      await get(`${first.url}/list/apps/two/tools`);
      await run(first.url, "two:canary");
      await run(first.url, "three:canary");
    }
    const kept = JSON.parse(await readFile(join(onlyPlace(join(directory, "data")), "namespace-usage.json"), "utf8"));
    expect(kept.uses).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ instance: "two", loads: 1, calls: 1, tools: { canary: 1 } }),
        expect.objectContaining({ instance: "three", loads: 0, calls: 1 }),
      ]),
    );
    await using second = await startGateway({ config, directory });
    await until(async () => (await loadedNames(second)).join() === "two");
    // What was known is enough: nobody asked for the server itself.
    expect(
      (await get(`${second.url}/api/servers`)).json.servers.map((server: { slug: string; dormant: boolean }) => [
        server.slug,
        server.dormant,
      ]),
    ).toContainEqual(["two", true]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a server that is gone cannot be loaded, and says why, to a program and to a model", async () => {
  await using servers = await startManyServers([
    { key: "up", tools },
    { key: "down", tools },
  ]);
  servers.setStatus("down", 503);
  await using gateway = await startGateway({
    config: { mcpServers: servers.mcpServers, toolyard: { namespaces: { cacheTtlMs: 1_000 } } },
  });
  await until(async () => (await get(`${gateway.url}/api/servers`)).json.servers[0].status === "online");
  const failed = await get(`${gateway.url}/list/apps/down/tools`);
  expect(failed.status).toBeGreaterThanOrEqual(502);
  expect(failed.json).toMatchObject({ code: expect.any(String), hint: expect.any(String) });
  const model = (await rpc(`${gateway.url}/mcp/namespaces`, "tools/call", { name: "down__list_tools" })).json.result;
  expect(model.isError).toBe(true);
  expect((await get(`${gateway.url}/metrics`)).text).toMatch(
    /^toolyard_namespace_load_errors_total\{code="\w+"\} [1-9]/m,
  );
});

test("a configuration that switches namespaces off takes the endpoint away; REST goes on", async () => {
  await using servers = await startManyServers([{ key: "one", tools }]);
  await using gateway = await startGateway({
    config: {
      mcpServers: servers.mcpServers,
      namespaceSupport: { enabled: false },
      performance: { preloadNamespaces: ["one"] },
    },
  });
  await untilOnline(gateway.url);
  expect((await post(`${gateway.url}/mcp/namespaces`)).status).toBe(404);
  expect((await get(`${gateway.url}/list/apps/one/tools`)).json).toMatchObject({
    namespace: "one",
    metadata: { loadedAt: null, toolCount: 2 },
  });
  expect(await loadedNames(gateway)).toEqual([]);
});

test("as the default exposure, /mcp shows namespaces, with the help tool's configured name", async () => {
  await using servers = await startManyServers([{ key: "one", tools }]);
  await using gateway = await startGateway({
    config: {
      mcpServers: servers.mcpServers,
      toolyard: { exposure: "namespaces", namespaces: { helpTool: "explain" } },
    },
  });
  await untilOnline(gateway.url);
  const listed = (await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools as readonly { name: string }[];
  expect(listed.map((tool) => tool.name)).toEqual(["explain", "one__list_tools"]);
});

test("FAULT 54: of two keys that look alike the later is disabled, and has no namespace", async () => {
  await using servers = await startManyServers([{ key: "mail", tools }]);
  const { mail } = servers.mcpServers;
  await using gateway = await startGateway({ config: { mcpServers: { mail, MAIL: mail, mаil: mail } } });
  await untilOnline(gateway.url);
  expect((await get(`${gateway.url}/list/apps`)).json.map((app: { name: string }) => app.name)).toEqual(["mail"]);
});

test("FAULT 58, 59: ten thousand tools come in pages; endless and repeating pages end", async () => {
  await using servers = await startManyServers([
    {
      key: "huge",
      tools: Array.from({ length: 10_000 }, (_, index) => ({ name: `tool_${index}`, description: "x".repeat(200) })),
    },
  ]);
  await using gateway = await startGateway({
    config: {
      mcpServers: {
        ...servers.mcpServers,
        endless: badServer("--endless-pages"),
        repeating: badServer("--repeat-cursor"),
      },
      toolyard: { limits: { listPages: 20 } },
    },
  });
  await untilOnline(gateway.url);
  expect((await get(`${gateway.url}/list/apps/huge/tools`)).json.metadata.toolCount).toBe(10_000);
  const url = `${gateway.url}/mcp/namespaces`;
  let cursor: string | undefined;
  let count = 0;
  do {
    const { result } = (await rpc(url, "tools/list", cursor === undefined ? {} : { cursor })).json;
    expect(result.tools.length).toBeLessThanOrEqual(1_000);
    count += result.tools.length;
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  expect(count).toBe(10_000 + 1 + 3);
  for (const app of ["endless", "repeating"])
    expect((await get(`${gateway.url}/list/apps/${app}/tools`)).status).toBe(200);
  const { tools: page, next_cursor } = (await get(`${gateway.url}/api/tools?server=huge&limit=1000`)).json;
  expect([page.length, next_cursor]).toEqual([1_000, "1000"]);
});
