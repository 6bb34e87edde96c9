import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/catalog/exposure/text/token-estimate.ts";
import { clientProfiles } from "../../src/config/rows/client-profiles.ts";
import { badServer, mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, untilOnline } from "../harness/rest.ts";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const fourTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
const [find = "", call = "", ...resourceTools] = fourTools;
const twin = "execute_read_only_mcp_tool";
const remoteFile = fileURLToPath(new URL("../../node_modules/mcp-remote/dist/proxy.js", import.meta.url));
const mcpServers = { one: badServer("--resources"), two: badServer("--resources") };
let gateway: RunningGateway;

beforeAll(async () => {
  const clients = {
    mine: { toolMeta: { execute_mcp_tool: { "mine/pinned": true } } },
    "group-*": { ownResourceTools: true },
  };
  gateway = await startGateway({ config: { mcpServers, toolyard: { clients } } });
  await untilOnline(gateway.url);
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

/** An official client that calls itself `name`. */
async function connect(name: string, mode: "legacy" | "auto" = "legacy", url = `${gateway.url}/mcp`): Promise<Client> {
  const client = new Client({ name, version: "1" }, { versionNegotiation: { mode } } as never);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

async function namesOf(client: Pick<Client, "listTools"> | LegacyClient): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

const textOf = (result: unknown): string => JSON.stringify(result);

describe.each(["legacy", "auto"] as const)("a client that negotiates %s", (mode) => {
  test("and is Claude Code gets five tools that its tool search does not hide, in at most 600 tokens", async () => {
    // Of `_meta`, its model reads nothing.
    const shown = ({ _meta: _unread, ...tool }: { readonly _meta?: unknown }): object => tool;
    const client = await connect("claude-code", mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([find, call, twin, ...resourceTools]);
    for (const { name, _meta: meta } of tools) {
      // Otherwise its model is shown 2,000 characters of a result, and a file.
      const isLarge = name === call || name === twin || name === "read_mcp_resource";
      expect(meta?.["anthropic/maxResultSizeChars"]).toBe(isLarge ? 150_000 : undefined);
      expect(meta).toMatchObject({ "anthropic/alwaysLoad": true });
      expect(meta?.["anthropic/searchHint"]).toMatch(/^\w/);
    }
    expect(countTokens(JSON.stringify(tools.map(shown)))).toBeLessThanOrEqual(600);
    await client.close();
  });

  test.each(["codex-mcp-client", "gemini-cli-mcp-client", "opencode"])(
    "and is %s is not shown our resource tools, nor told of them, but may call them",
    async (name) => {
      const client = await connect(name, mode);
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual([find, call, ...(name === "codex-mcp-client" ? [twin] : [])]);
      const told = `${client.getInstructions()} ${JSON.stringify(tools)}`;
      expect(told).toContain("discover_mcp_tools");
      for (const left of resourceTools) expect(told).not.toContain(left);
      const listed = await client.callTool({ name: "list_mcp_resources", arguments: { server: "one" } });
      expect(textOf(listed.content)).toContain("one|bad://text");
      const read = await client.callTool({ name: "read_mcp_resource", arguments: { uri: "one|bad://text" } });
      expect(textOf(read.content)).toContain("bad://text of bad-server");
      // Which is what the client's own tools do.
      const { resources } = await client.listResources();
      const uri = resources.find((resource) => resource.name === "text")?.uri ?? "";
      expect(textOf(await client.readResource({ uri }))).toContain("bad://text of bad-server");
      await client.close();
    },
  );

  test.each([
    ["codex-mcp-client", 8_000],
    ["opencode", 10_000],
    ["qwen-cli-mcp-client-toolyard", 5_000],
    ["copilot-cli", 4_000],
    ["kimi-code", 12_000],
    ["@cline/core", 2_000],
    ["somebody", 25_000],
  ])(
    "and is %s gets of a large result what it gives its model: %d tokens, and how to read on first",
    async (name, most) => {
      const client = await connect(name, mode);
      const text = Array.from({ length: 8_000 }, (_, n) => `${n} is a line of a log file\n`).join("");
      const call = { name: "execute_mcp_tool", arguments: { tool_path: "one:text", arguments: { text } } };
      const { content } = await client.callTool(call);
      const [note = "", shown = ""] = (content as { text: string }[]).map((block) => block.text);
      expect(note).toMatch(/^Note from Toolyard: .*read_mcp_resource.*\?part=2 /);
      expect(text.startsWith(shown)).toBe(true);
      const tokens = estimateTokens(note + shown);
      expect(tokens).toBeLessThanOrEqual(most);
      expect(tokens).toBeGreaterThan(most * 0.85);
      await client.close();
    },
  );

  test("and has no row in the table gets the four tools as they are", async () => {
    const client = await connect("somebody", mode);
    const plain = (await rpc(`${gateway.url}/mcp`, "tools/list")).json.result.tools as unknown;
    expect((await client.listTools()).tools).toEqual(plain);
    expect(textOf(plain)).not.toContain("_meta");
    await client.close();
  });

  test("and has a row in the configuration gets what that says", async () => {
    const mine = await connect("mine", mode);
    const metas = (await mine.listTools()).tools.map(({ _meta: meta }) => meta);
    expect(metas).toEqual([undefined, { "mine/pinned": true }, undefined, undefined]);
    const member = await connect("group-toolyard", mode);
    expect(await namesOf(member)).toEqual(fourTools.slice(0, 2));
    await Promise.all([mine.close(), member.close()]);
  });
});

test("every row of the table is about a client that one of these tests is", () => {
  const tested = ["claude-code", "codex-mcp-client", "gemini-cli-mcp-client", "opencode"];
  const more = ["qwen-cli-mcp-client-*", "copilot-cli", "kimi-code", "@cline/core"];
  expect(Object.keys(clientProfiles)).toEqual([...tested, ...more]);
});

test("a list is for no shared cache: it says which servers its reader has", async () => {
  const clientInfo = (name: string) => ({ _meta: { "io.modelcontextprotocol/clientInfo": { name, version: "1" } } });
  const scopes = ["somebody", "claude-code", "somebody"].map(
    async (name) => (await modernRpc(`${gateway.url}/mcp`, "tools/list", clientInfo(name))).json.result.cacheScope,
  );
  expect(await Promise.all(scopes)).toEqual(["private", "private", "private"]);
});

test.each(["flat", "server/one"])("%s lists the servers' tools as they are, whoever asks", async (exposure) => {
  const [claude, somebody] = await Promise.all(
    ["claude-code", "somebody"].map(async (name) => await connect(name, "auto", `${gateway.url}/mcp/${exposure}`)),
  );
  expect((await claude?.listTools())?.tools).toEqual((await somebody?.listTools())?.tools);
  await Promise.all([claude?.close(), somebody?.close()]);
});

describe("the name of a client arrives", () => {
  test("over stdio", async () => {
    const client = new LegacyClient({ name: "opencode", version: "1" });
    const args = [mainFile, "stdio", "--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }) as never);
    expect(await namesOf(client)).toEqual(fourTools.slice(0, 2));
    await client.close();
  });

  test("through mcp-remote, which adds its own", { timeout: 600_000 }, async () => {
    const client = new LegacyClient({ name: "opencode", version: "1" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [remoteFile, `${gateway.url}/mcp`, "--allow-http", "--transport", "http-only"],
      env: { ...process.env, HOME: gateway.directory, MCP_REMOTE_CONFIG_DIR: gateway.directory } as Record<
        string,
        string
      >,
      stderr: "ignore",
    });
    // The SDK gives it a minute by itself: on a busy machine that is not enough to start so large a program.
    await client.connect(transport as never, { timeout: 300_000 });
    expect(await namesOf(client)).toEqual(fourTools.slice(0, 2));
    await client.close();
  });
});

test("a connected client's list stays what it was when its row changes; the next one gets the new row", async () => {
  await using own = await startGateway({ config: { mcpServers: {} } });
  // The SDK v1 keeps no lists of its own.
  const before = new LegacyClient({ name: "mine", version: "1" });
  await before.connect(new LegacyHttp(new URL(`${own.url}/mcp`)) as never);
  expect(await namesOf(before)).toEqual(fourTools);
  await writeFile(
    own.configFile,
    JSON.stringify({ mcpServers: {}, toolyard: { clients: { mine: { ownResourceTools: true } } } }),
  );
  await until(async () => {
    const next = await connect("mine", "legacy", `${own.url}/mcp`);
    const names = await namesOf(next);
    await next.close();
    return names.length === 2;
  });
  expect(await namesOf(before)).toEqual(fourTools);
  await before.close();
});

describe("a resource has one native URI wherever it is listed", () => {
  interface Listed {
    readonly resources: readonly { readonly uri: string; readonly native_uri: string }[];
    readonly resource_templates: readonly { readonly uriTemplate: string; readonly native_uri_template: string }[];
  }

  async function byTool(): Promise<Listed> {
    const asked = { name: "list_mcp_resources", arguments: {} };
    const { result } = (await rpc(`${gateway.url}/mcp`, "tools/call", asked)).json;
    return JSON.parse(result.content[0].text as string) as Listed;
  }

  test("in the answers of list_mcp_resources, of REST, and in the native lists", async () => {
    const rest = (await get(`${gateway.url}/api/resources`)).json as Listed;
    const native = (await rpc(`${gateway.url}/mcp`, "resources/list")).json.result.resources as { uri: string }[];
    const templates = (await rpc(`${gateway.url}/mcp`, "resources/templates/list")).json.result.resourceTemplates as {
      uriTemplate: string;
    }[];
    for (const { resources, resource_templates: told } of [await byTool(), rest]) {
      expect(resources).toHaveLength(6);
      expect(resources.map((resource) => resource.native_uri)).toEqual(native.map(({ uri }) => uri));
      expect(told.map((template) => template.native_uri_template)).toEqual(templates.map((one) => one.uriTemplate));
    }
    expect(rest.resources[0]).toMatchObject({ uri: "one|bad://text", native_uri: "toolyard://one/bad%3A%2F%2Ftext" });
  });

  test("and every spelling is read in every way", async () => {
    const { resources, resource_templates: templates } = await byTool();
    const spelled = resources.flatMap(({ uri, native_uri: native }) => [uri, native]);
    const filledIn = templates
      .flatMap(({ uriTemplate, native_uri_template: native }) => [uriTemplate, native])
      .map((template) => template.replace("{id}", "7"));
    for (const uri of [...spelled, ...filledIn]) {
      const called = { name: "read_mcp_resource", arguments: { uri } };
      const byCall = (await rpc(`${gateway.url}/mcp`, "tools/call", called)).json.result.content[0].resource as unknown;
      const contents = (await rpc(`${gateway.url}/mcp`, "resources/read", { uri })).json.result.contents as unknown[];
      const modern = (await modernRpc(`${gateway.url}/mcp`, "resources/read", { uri })).json.result.contents as unknown;
      const rest = (await get(`${gateway.url}/api/resources/read?uri=${encodeURIComponent(uri)}`)).json
        .contents as unknown;
      expect(byCall, uri).toMatchObject({ uri: expect.stringMatching(/^(toolyard|ui):\/\/(one|two)\//) as string });
      expect([[byCall], modern, rest], uri).toEqual([contents, contents, contents]);
    }
  });

  test("and a server's own URI is read where one server lists it; where two do, the answer names both", async () => {
    await using alone = await startGateway({ config: { mcpServers: { one: mcpServers.one } } });
    await untilOnline(alone.url);
    const uri = "bad://text";
    const called = { name: "read_mcp_resource", arguments: { uri } };
    for (const answer of [
      await rpc(`${alone.url}/mcp`, "resources/read", { uri }),
      await rpc(`${alone.url}/mcp`, "tools/call", called),
      await get(`${alone.url}/api/resources/read?uri=${encodeURIComponent(uri)}`),
    ])
      expect(answer.text).toContain("bad://text of bad-server");
    const { text } = await rpc(`${gateway.url}/mcp`, "tools/call", called);
    expect(text).toContain("one|bad://text");
    expect(text).toContain("two|bad://text");
  });
});
