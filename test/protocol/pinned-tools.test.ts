import { writeFile } from "node:fs/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { startCommandedGateway } from "../harness/commanded-gateway.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, knownPeople } from "../harness/known-people.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { modernRpc, rpc, send } from "../harness/rpc.ts";
import { addCast, startTeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";

const fourTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
const mcpServers = { one: badServer(), two: badServer() };

interface Pinning {
  readonly pin: unknown;
  readonly servers?: object;
  readonly more?: object;
}

async function start({ pin, servers = mcpServers, more = {} }: Pinning): Promise<RunningGateway> {
  const gateway = await startGateway({ config: toConfig({ pin, servers, more }) });
  onTestFinished(async () => await gateway[Symbol.asyncDispose]());
  return gateway;
}

function toConfig({ pin, servers = mcpServers, more = {} }: Pinning): Readonly<Record<string, unknown>> {
  return { mcpServers: servers, toolyard: { pin, ...more } };
}

async function connect(gateway: RunningGateway, mode: "legacy" | "auto", path = "/mcp"): Promise<Client> {
  const client = new Client({ name: "somebody", version: "1" }, { versionNegotiation: { mode } } as never);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}${path}`)));
  onTestFinished(async () => await client.close());
  return client;
}

async function namesOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

const put = async (gateway: RunningGateway, pins: unknown, headers = {}) =>
  await send(`${gateway.url}/api/pins`, {
    method: "PUT",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ pins }),
  });

describe.each(["legacy", "auto"] as const)("for a client that negotiates %s", (mode) => {
  test("a pinned tool is listed as the server has it, and called as any other", async () => {
    const gateway = await start({ pin: ["one:echo"] });
    await untilOnline(gateway.url);
    const client = await connect(gateway, mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...fourTools, "echo"]);
    const flat = await connect(gateway, mode, "/mcp/flat");
    const theirs = (await flat.listTools()).tools.find(({ name }) => name === "one-echo");
    expect(tools.at(-1)).toEqual({ ...theirs, name: "echo" });
    const { content } = await client.callTool({ name: "echo", arguments: { text: "hello" } });
    expect(JSON.stringify(content)).toContain("hello");
    const calls = await until(async () => {
      const found = (await get(`${gateway.url}/api/calls`)).json.calls;
      return found.length > 0 && found;
    });
    expect(calls[0]).toMatchObject({ name: "one:echo", outcome: "ok" });
  });

  test("names that would be two tools', ours, or that clients refuse are those of the flat list", async () => {
    const gateway = await start({ pin: ["one:echo", "two:echo", "one:text"] });
    await untilOnline(gateway.url);
    const client = await connect(gateway, mode);
    expect(await namesOf(client)).toEqual([...fourTools, "one-echo", "two-echo", "text"]);
    const asked = await client.callTool({ name: "two-echo", arguments: { text: "x" } });
    expect(asked.isError ?? false).toBe(false);
    // Both servers have it, and the list says which is meant.
    const texts = await client.callTool({ name: "text", arguments: { text: "from one" } });
    expect(JSON.stringify(texts)).toContain("from one");
  });

  test("a pin that names no tool is no error, and is shown as unused with near names", async () => {
    const gateway = await start({ pin: ["one:ecko", "nowhere:x", "one:echo"] });
    await untilOnline(gateway.url);
    const client = await connect(gateway, mode);
    expect(await namesOf(client)).toEqual([...fourTools, "echo"]);
    const { json } = await get(`${gateway.url}/api/pins`);
    expect(json.tools[0]).toMatchObject({ tool_path: "one:ecko", name: null, tokens: null });
    expect(json.tools[0].near).toContain("one:echo");
    expect(json.tools[2]).toMatchObject({ name: "echo", near: [] });
    expect(json.tokens).toBe(json.tools[2].tokens);
    expect(json.tokens).toBeGreaterThan(10);
  });
});

test("nothing is pinned by default, and nowhere but in the list of the four", async () => {
  const gateway = await start({ pin: [] });
  await untilOnline(gateway.url);
  expect(await namesOf(await connect(gateway, "legacy"))).toEqual(fourTools);
  await put(gateway, ["one:echo"]);
  expect(await namesOf(await connect(gateway, "legacy", "/mcp/flat"))).not.toContain("echo");
  expect(await namesOf(await connect(gateway, "legacy", "/mcp/meta"))).toContain("echo");
});

test("a session keeps what it was told, and others follow the choice and the rules", async () => {
  const gateway = await start({ pin: ["one:echo"] });
  await untilOnline(gateway.url);
  const old = await connect(gateway, "legacy");
  const first = await old.listTools();
  expect((await put(gateway, ["one:text", "two:echo"])).status).toBe(200);
  expect(await old.listTools()).toEqual(first);
  expect(await namesOf(await connect(gateway, "legacy"))).toEqual([...fourTools, "text", "echo"]);
  // The name means what this client was told, whatever it means to others by now.
  const called = await old.callTool({ name: "echo", arguments: { text: "still one" } });
  expect(JSON.stringify(called)).toContain("still one");
  const calls = await until(async () => {
    const found = (await get(`${gateway.url}/api/calls`)).json.calls;
    return found.length > 0 && found;
  });
  expect(calls[0]).toMatchObject({ name: "one:echo" });

  const denied = { one: { ...badServer(), tools: { deny: ["echo", "text"] } }, two: badServer() };
  await writeFile(gateway.configFile, JSON.stringify(toConfig({ pin: ["one:echo"], servers: denied })));
  await until(async () => !(await namesOf(await connect(gateway, "auto"))).includes("text"));
  expect(await old.listTools()).toEqual(first);
  const refused = await old.callTool({ name: "echo", arguments: { text: "x" } });
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused)).toContain("TOOL_");
  // The choice of before names tools of which one may not be seen any more.
  expect(await namesOf(await connect(gateway, "legacy"))).toEqual([...fourTools, "echo"]);
});

test("a server that is still starting at the first start of all is waited for", async () => {
  const servers = { one: badServer("--start-delay", "700") };
  const gateway = await start({ pin: ["one:echo"], servers });
  expect(await namesOf(await connect(gateway, "legacy"))).toEqual([...fourTools, "echo"]);
});

test("a server that never comes up leaves the list as it is", async () => {
  const servers = { one: badServer("--crash-at-start") };
  const gateway = await start({ pin: ["one:echo"], servers });
  expect(await namesOf(await connect(gateway, "legacy"))).toEqual(fourTools);
  const answer = await modernRpc(`${gateway.url}/mcp`, "tools/list");
  expect(answer.json.result).toMatchObject({ tools: { length: 4 } });
});

test("a list with pinned tools is nobody else's, and follows the view without a session", async () => {
  const gateway = await start({ pin: ["one:echo"] });
  await untilOnline(gateway.url);
  const listed = async () => (await modernRpc(`${gateway.url}/mcp`, "tools/list")).json.result;
  expect(await listed()).toMatchObject({ cacheScope: "private", tools: { length: 5 } });
  await put(gateway, []);
  expect(await listed()).toMatchObject({ tools: { length: 4 } });
  const headers = { "content-type": "application/json" };
  expect((await send(`${gateway.url}/api/pins`, { method: "DELETE", headers })).json.own).toBeNull();
  expect((await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools).toHaveLength(5);
});

test("each person's choice is their own, and outlives the gateway", async () => {
  const gateway = await start({ pin: ["one:echo"], more: { principals: knownPeople } });
  await untilOnline(gateway.url, as("root"));
  const listed = async (who: string, url = gateway.url) =>
    (await rpc(`${url}/mcp`, "tools/list", {}, as(who))).json.result.tools
      .map(({ name }: { name: string }) => name)
      .slice(4);
  expect((await put(gateway, ["two:text"], as("alice"))).json.own).toEqual(["two:text"]);
  expect(await listed("alice")).toEqual(["text"]);
  expect(await listed("bob")).toEqual(["echo"]);
  await gateway.stop();
  await using again = await startGateway({
    config: toConfig({ pin: ["one:echo"], more: { principals: knownPeople } }),
    directory: gateway.directory,
  });
  await untilOnline(again.url, as("root"));
  expect(await listed("alice", again.url)).toEqual(["text"]);
  expect(await listed("bob", again.url)).toEqual(["echo"]);
});

test("people of the database have their own as well, which go with the membership", async () => {
  await using team = await startTeamGateway();
  const cast = await addCast(team);
  const { gateway } = team;
  const pinsOf = async (token: string) => (await team.ask(token, "GET", "/api/pins")).json;
  const tools = await until(async () => {
    const { json } = await team.ask(cast.bob, "GET", "/api/tools");
    return json.tools.length > 0 && (json.tools as readonly { readonly tool_path: string }[]);
  });
  const path = tools[0]?.tool_path ?? "";
  expect((await team.ask(cast.bob, "PUT", "/api/pins", { body: { pins: [path] } })).status).toBe(200);
  expect((await pinsOf(cast.bob)).own).toEqual([path]);
  expect((await pinsOf(cast.tom)).own).toBeNull();
  const headers = { authorization: `Bearer ${cast.bob}` };
  const listed = (await rpc(`${gateway.url}/mcp`, "tools/list", {}, headers)).json.result.tools;
  expect(listed).toHaveLength(5);
  const called = await rpc(`${gateway.url}/mcp`, "tools/call", { name: listed[4].name, arguments: {} }, headers);
  expect(JSON.stringify(called.json)).not.toContain("TOOL_UNKNOWN");
  await team.again();
  expect((await pinsOf(cast.bob)).own).toEqual([path]);
});

test("toolyard tools says what is pinned, and what is unused", async () => {
  await using commanded = await startCommandedGateway(toConfig({ pin: ["one:echo", "one:ecko"] }));
  await untilOnline(commanded.gateway.url);
  const { stderr } = await commanded.toolyard("tools");
  expect(stderr).toMatch(/^toolyard: pinned: one:echo as echo, ~\d+ tokens in each conversation$/m);
  expect(stderr).toMatch(/^toolyard: pinned, but there is no such tool: one:ecko \(.*one:echo.*\?\)$/m);
  expect((await commanded.toolyard("tools", "one")).stderr).toBe("");
});

test.each([
  ["eleven tools", Array.from({ length: 11 }, (_, at) => `one:t${at}`)],
  ["no path", ["echo"]],
  ["a path without a tool", ["one:"]],
  ["64 KB", [`one:${"x".repeat(65_536)}`]],
  ["a number", 7],
  ["another word", "all"],
])("%s cannot be pinned, in the file or otherwise", async (_what, pins) => {
  const gateway = await start({ pin: [], servers: {} });
  expect((await put(gateway, pins)).status).toBe(400);
  await expect(startGateway({ config: toConfig({ pin: pins, servers: {} }) })).rejects.toThrow(/pin/);
});

test("paths that no tool has are kept whatever they look like", async () => {
  const gateway = await start({ pin: [], servers: {} });
  const odd = ["a:\u202e</script>\u0000", `a:${"\u00e9".repeat(1_000)}`, "__proto__:constructor"];
  const { status, json } = await put(gateway, odd);
  expect(status).toBe(200);
  expect(json.tools.map((tool: { tool_path: string }) => tool.tool_path)).toEqual(odd);
  expect(await namesOf(await connect(gateway, "legacy"))).toEqual(fourTools);
});
