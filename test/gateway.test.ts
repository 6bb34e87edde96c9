import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { parse as parseJsonc } from "jsonc-parser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileURLToPath } from "node:url";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mainFile, startGateway, type RunningGateway } from "./harness/gateway.ts";
import { untilOnline } from "./harness/rest.ts";
import { execute, modernRpc, rpc } from "./harness/rpc.ts";

const exampleFile = fileURLToPath(new URL("../examples/mcp.json", import.meta.url));

describe("the gateway in front of the example servers", () => {
  let gateway: RunningGateway;

  beforeAll(async () => {
    const example = parseJsonc(await readFile(exampleFile, "utf8"), [], { allowTrailingComma: true }) as {
      mcpServers: Record<string, object>;
    };
    const cwd = fileURLToPath(new URL("../examples", import.meta.url));
    const mcpServers = Object.fromEntries(
      Object.entries(example.mcpServers).map(([key, server]) => [key, { cwd, ...server }]),
    );
    gateway = await startGateway({ config: { mcpServers } });
    // Until then a search finds what the others have.
    await untilOnline(gateway.url);
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test("shows exactly the four tools, in at most 600 tokens", async () => {
    const answer = await rpc(`${gateway.url}/mcp`, "tools/list");
    expect(answer.json.result.tools.map((tool: { name: string }) => tool.name)).toEqual([
      "discover_mcp_tools",
      "execute_mcp_tool",
      "list_mcp_resources",
      "read_mcp_resource",
    ]);
    expect(countTokens(JSON.stringify(answer.json.result.tools))).toBeLessThanOrEqual(600);
  });

  test("a tool that was discovered can be executed with nothing but the answer to go by", async () => {
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "discover_mcp_tools",
      arguments: { query: "sum of two numbers" },
    });
    const found = JSON.parse(answer.json.result.content[0].text) as {
      tools: { tool_path: string; input: string; relevance_score: number }[];
    };
    expect(found.tools[0]).toMatchObject({ tool_path: "everything:get-sum", input: "{ a: number; b: number }" });
    const result = await execute(gateway.url, found.tools[0]?.tool_path ?? "", { a: 2, b: 40 });
    expect(result.content[0].text).toContain("42");
  });

  test("the SDK v1 client initializes, lists, calls and reads", async () => {
    const client = new LegacyClient({ name: "test", version: "1" });
    await client.connect(new LegacyHttp(new URL(`${gateway.url}/mcp`)) as never);
    expect((await client.listTools()).tools).toHaveLength(4);
    const result = await client.callTool({
      name: "execute_mcp_tool",
      arguments: { tool_path: "everything:echo", arguments: { message: "hi" } },
    });
    expect(result.content).toEqual([{ type: "text", text: "Echo: hi" }]);
    const { resources } = await client.listResources();
    const read = await client.readResource({ uri: resources[0]?.uri ?? "" });
    expect(read.contents[0]?.uri).toBe(resources[0]?.uri);
    expect((await client.listPrompts()).prompts.map((prompt) => prompt.name)).toContain("everything-simple-prompt");
    await client.close();
  });

  test("the SDK v2 client speaks 2026-07-28 without a session", async () => {
    const client = new ModernClient({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } } as never);
    await client.connect(new ModernHttp(new URL(`${gateway.url}/mcp`)));
    expect((await client.listTools()).tools).toHaveLength(4);
    const result = await client.callTool({
      name: "execute_mcp_tool",
      arguments: { tool_path: "everything:echo", arguments: { message: "hi" } },
    });
    expect(result.content).toEqual([{ type: "text", text: "Echo: hi" }]);
    await client.close();
  });

  test("server/discover tells versions, and our name in _meta", async () => {
    const answer = await modernRpc(`${gateway.url}/mcp`, "server/discover");
    expect(answer.json.result).toMatchObject({
      resultType: "complete",
      supportedVersions: expect.arrayContaining(["2026-07-28", "2025-11-25"]),
    });
    expect(answer.json.result._meta["io.modelcontextprotocol/serverInfo"].name).toBe("toolyard");
  });

  test("flat and per-server endpoints show the same tools under their own names", async () => {
    const flat = await rpc(`${gateway.url}/mcp/flat`, "tools/list");
    expect(flat.json.result.tools.map((tool: { name: string }) => tool.name)).toContain("everything-echo");
    const own = await rpc(`${gateway.url}/mcp/server/everything`, "tools/list");
    expect(own.json.result.tools.map((tool: { name: string }) => tool.name)).toContain("echo");
    const called = await rpc(`${gateway.url}/mcp/server/everything`, "tools/call", {
      name: "echo",
      arguments: { message: "own" },
    });
    expect(called.json.result.content[0].text).toBe("Echo: own");
  });
});

test("toolyard stdio serves the same over stdin and stdout", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-stdio-"));
  const client = new LegacyClient({ name: "test", version: "1" });
  const cwd = fileURLToPath(new URL("../examples", import.meta.url));
  try {
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [mainFile, "stdio", "--in-process", "--config", exampleFile, "--data-dir", directory],
        cwd,
      }) as never,
    );
    expect((await client.listTools()).tools).toHaveLength(4);
    const result = await client.callTool({
      name: "execute_mcp_tool",
      arguments: { tool_path: "everything:echo", arguments: { message: "hi" } },
    });
    // The first call may come before the server's tools are known: it then says that the server is starting.
    expect(["Echo: hi", "SERVER_STARTING"].some((text) => JSON.stringify(result.content).includes(text))).toBe(true);
  } finally {
    await client.close();
    await rm(directory, { recursive: true, force: true });
  }
});
