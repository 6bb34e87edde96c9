import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, knownPeople } from "../harness/known-people.ts";
import { onlyPlace } from "../harness/places.ts";
import { get, post, untilOnline, type Headers } from "../harness/rest.ts";
import { send } from "../harness/rpc.ts";

const config = {
  mcpServers: { one: badServer("--behaviours=image,echo"), off: { ...badServer(), disabled: true } },
  toolyard: { principals: knownPeople },
};

describe("searches that are kept as tests", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ config });
    await untilOnline(gateway.url, as("alice"));
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());
  const keep = async (body: unknown, headers: Headers) => await post(`${gateway.url}/api/searches`, body, headers);
  const list = async (headers: Headers) => (await get(`${gateway.url}/api/searches`, headers)).json.searches;
  const again = async (headers: Headers) => (await post(`${gateway.url}/api/searches/run`, {}, headers)).json;
  const remove = async (id: string, headers: Headers) =>
    await send(`${gateway.url}/api/searches/${id}`, {
      method: "DELETE",
      headers: { "content-type": "application/json", ...headers },
    });
  const file = (): string => join(onlyPlace(join(gateway.directory, "data")), "kept-searches.json");

  test("keep the place that the gateway found, and show it beside that of now", async () => {
    const made = await keep({ query: "return a picture", tool: "one:image" }, as("alice"));
    expect([made.status, made.json.rank, made.headers["location"]]).toEqual([
      201,
      1,
      `${gateway.url}/api/searches/${made.json.id}`,
    ]);
    const none = await keep({ query: "return a picture", tool: "one__echo" }, as("alice"));
    expect([none.status, none.json]).toMatchObject([201, { tool: "one:echo", rank: null, toolExists: true }]);
    expect((await again(as("alice"))).searches).toEqual([
      { ...made.json, rankNow: 1, toolExists: true, first: "one:image" },
      { ...none.json, rankNow: null, toolExists: true, first: "one:image" },
    ]);
    // A server that is switched off takes its tools along: what was found is not found any more.
    const off = {
      ...config,
      mcpServers: { ...config.mcpServers, one: { ...config.mcpServers.one, tools: { deny: ["image"] } } },
    };
    await writeFile(gateway.configFile, JSON.stringify(off));
    await expect
      .poll(async () => (await again(as("alice"))).searches[0], { timeout: 100_000 })
      .toMatchObject({ rank: 1, rankNow: null, toolExists: false });
    await writeFile(gateway.configFile, JSON.stringify(config));
    await expect
      .poll(async () => (await again(as("alice"))).searches[0], { timeout: 100_000 })
      .toMatchObject({ rank: 1, rankNow: 1, toolExists: true });
  });

  test("are refused for a tool that does not exist, and kept for one of a server that has told nothing yet", async () => {
    // His own instance of the server, which has told nothing before.
    await untilOnline(gateway.url, as("bob"));
    const before = await list(as("bob"));
    const mistyped = await keep({ query: "return a picture", tool: "one:imagge" }, as("bob"));
    expect([mistyped.status, mistyped.json]).toMatchObject([
      404,
      { code: "TOOL_UNKNOWN", closest: expect.arrayContaining(["one:image"]) },
    ]);
    expect((await keep({ query: "picture", tool: "nobody:image" }, as("bob"))).json.code).toBe("TOOL_UNKNOWN");
    expect(await list(as("bob"))).toEqual(before);
    const unseen = await keep({ query: "picture", tool: "off:image" }, as("bob"));
    expect([unseen.status, unseen.json]).toMatchObject([201, { tool: "off:image", toolExists: false }]);
    expect((await remove(unseen.json.id, as("bob"))).status).toBe(200);
  });

  test("are seen, made again and removed by nobody but who kept them, also not by an admin", async () => {
    const [own] = await list(as("alice"));
    for (const other of ["bob", "root"]) {
      expect(await list(as(other))).toEqual([]);
      expect(await again(as(other))).toEqual({ searches: [], degraded: null });
      const { status, json } = await remove(own.id, as(other));
      expect([status, json.code]).toEqual([404, "KEPT_SEARCH_UNKNOWN"]);
    }
    expect((await list(as("alice"))).map(({ id }: { readonly id: string }) => id)).toContain(own.id);
  });

  test("stand in a file that only the gateway's user can read, and outlive it", async () => {
    const before = await list(as("alice"));
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file(), "utf8")).searches).toHaveLength(before.length);
    await gateway.stop();
    gateway = await startGateway({ config, directory: gateway.directory });
    await untilOnline(gateway.url, as("alice"));
    expect(await list(as("alice"))).toEqual(before);
    expect((await remove(before[0].id, as("alice"))).json).toEqual({ done: true });
    expect(await list(as("alice"))).toEqual(before.slice(1));
  });

  test.each([
    [{ tool: "one:image" }, "body.query"],
    [{ query: " ", tool: "one:image" }, "body.query"],
    [{ query: "x".repeat(1_001), tool: "one:image" }, "body.query"],
    [{ query: "picture" }, "body.tool"],
    [{ query: "picture", tool: "one:image", rank: 1 }, "body"],
  ])("%j is refused", async (body, field) => {
    const before = await list(as("bob"));
    const { status, json } = await keep(body, as("bob"));
    expect([status, json.code]).toEqual([400, "PARAMS_INVALID"]);
    expect(json.detail).toContain(field);
    expect(await list(as("bob"))).toEqual(before);
  });

  test.each(["{", '{"format":2,"searches":[]}'])(
    "a file with %s is set aside, and new ones can be kept",
    async (text) => {
      await gateway.stop();
      await writeFile(file(), text);
      gateway = await startGateway({ config, directory: gateway.directory });
      await untilOnline(gateway.url, as("alice"));
      expect(await list(as("alice"))).toEqual([]);
      expect((await keep({ query: "picture", tool: "one:image" }, as("alice"))).status).toBe(201);
      expect(await list(as("alice"))).toHaveLength(1);
      const names = (await readdir(dirname(file()))).filter((name) => name.startsWith("kept-searches.json.damaged-"));
      const aside = await Promise.all(names.map(async (name) => await readFile(join(dirname(file()), name), "utf8")));
      expect(aside).toContain(text);
    },
  );
});
