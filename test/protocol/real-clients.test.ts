import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspectorCli } from "../../scripts/inspector.mjs";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const fourTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
const remoteFile = fileURLToPath(new URL("../../node_modules/mcp-remote/dist/proxy.js", import.meta.url));
let gateway: RunningGateway;
let sse: Server;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
  sse = await startSseServer();
  const { port } = sse.address() as AddressInfo;
  gateway = await startGateway({
    config: {
      mcpServers: {
        old: badServer("--era", "legacy", "--resources", "--prompts"),
        new: badServer("--era", "modern", "--resources", "--prompts"),
        // As supergateway serves a stdio server.
        bridged: { url: `http://127.0.0.1:${port}/sse` },
      },
    },
  });
  for (const path of ["old:canary", "new:canary", "bridged:greet"])
    await until(async () => (await execute(gateway.url, path)).content?.[0].text.includes("SERVER_") === false);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  sse.closeAllConnections();
  sse.close();
  await rm(home, { recursive: true, force: true });
});

/** A server of the SDK v1 over HTTP+SSE (2024-11-05), one session per stream. */
async function startSseServer(): Promise<Server> {
  const transports = new Map<string, SSEServerTransport>();
  const http = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? "", "http://localhost");
      if (request.method === "POST" && url.pathname === "/message") {
        await transports.get(url.searchParams.get("sessionId") ?? "")?.handlePostMessage(request, response);
      } else if (request.method === "GET" && url.pathname === "/sse") {
        const transport = new SSEServerTransport("/message", response);
        transports.set(transport.sessionId, transport);
        const server = new McpServer({ name: "bridged", version: "1" });
        server.registerTool("greet", { description: "Greets" }, async () => ({
          content: [{ type: "text", text: "hello over SSE" }],
        }));
        await server.connect(transport);
      } else response.writeHead(404).end();
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return http;
}

describe("the SDK v1 client", () => {
  test("lists, calls, reads, subscribes, and is asked", async () => {
    const client = new LegacyClient({ name: "v1", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { name: "Ada" } }));
    await client.connect(new LegacyHttp(new URL(`${gateway.url}/mcp`)) as never);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(fourTools);
    for (const server of ["old", "new"]) {
      const result = await client.callTool({ name: "execute_mcp_tool", arguments: { tool_path: `${server}:elicit` } });
      expect(JSON.stringify(result.content)).toContain("Ada");
    }
    const uri = (await client.listResources()).resources[0]?.uri ?? "";
    expect((await client.readResource({ uri })).contents[0]?.uri).toBe(uri);
    await client.subscribeResource({ uri });
    expect(
      (await client.getPrompt({ name: "new-greet", arguments: { name: "Eve" } })).messages[0]?.content,
    ).toMatchObject({ text: "Hello, Eve" });
    await client.close();
  });
});

describe.each(["legacy", "auto"] as const)("the SDK v2 client, negotiating %s", (mode) => {
  test("lists and calls behind every exposure", async () => {
    for (const [path, tool] of [
      ["/mcp", "old:canary"],
      ["/mcp/flat", "old-canary"],
      ["/mcp/server/old", "canary"],
    ] as const) {
      const client = new ModernClient({ name: "v2", version: "1" }, { versionNegotiation: { mode } } as never);
      await client.connect(new ModernHttp(new URL(`${gateway.url}${path}`)));
      expect((await client.listTools()).tools.length).toBeGreaterThan(0);
      expect((await client.callTool({ name: tool, arguments: {} })).structuredContent).toMatchObject({
        tool: "canary",
      });
      await client.close();
    }
  });
});

describe("Inspector CLI", () => {
  test.each(["legacy", "modern", "auto"])("speaks %s", { timeout: 300_000 }, async (era) => {
    const { node, file } = await inspectorCli();
    const inspect = async (
      ...args: string[]
    ): Promise<{ tools?: { name: string }[]; content?: { text: string }[] }> => {
      const target = ["--server-url", `${gateway.url}/mcp`, "--transport", "http", "--protocol-era", era];
      const env = { ...process.env, HOME: home, MCP_CATALOG_PATH: join(home, "mcp.json") };
      const { stdout } = await promisify(execFile)(node, [file, "--cli", ...target, ...args], { env });
      return JSON.parse(stdout) as never;
    };
    expect((await inspect("--method", "tools/list")).tools?.map(({ name }) => name)).toEqual(fourTools);
    const called = await inspect(
      "--method",
      "tools/call",
      "--tool-name",
      "execute_mcp_tool",
      "--tool-arg",
      "tool_path=new:canary",
    );
    expect(called.content?.[0]?.text).toContain('"tool":"canary"');
  });
});

describe("mcp-remote", () => {
  test("is a stdio front for the gateway", { timeout: 600_000 }, async () => {
    const client = new LegacyClient({ name: "behind-mcp-remote", version: "1" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [remoteFile, `${gateway.url}/mcp`, "--allow-http", "--transport", "http-only"],
      env: { ...process.env, HOME: home, MCP_REMOTE_CONFIG_DIR: home } as Record<string, string>,
      stderr: "ignore",
    });
    // The SDK gives it a minute by itself: on a busy machine that is not enough to start so large a program.
    await client.connect(transport as never, { timeout: 300_000 });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(fourTools);
    const result = await client.callTool({ name: "execute_mcp_tool", arguments: { tool_path: "bridged:greet" } });
    expect(result.content).toEqual([{ type: "text", text: "hello over SSE" }]);
    await client.close();
  });
});

test("a server over HTTP+SSE is found out by itself and called like any other", async () => {
  expect((await execute(gateway.url, "bridged:greet")).content).toEqual([{ type: "text", text: "hello over SSE" }]);
});

test("an HTTP+SSE client at an endpoint of Streamable HTTP is told so with a status, and falls back no further", async () => {
  const client = new LegacyClient({ name: "old", version: "1" });
  await expect(client.connect(new SSEClientTransport(new URL(`${gateway.url}/mcp`)) as never)).rejects.toThrow(
    /405|Non-200/,
  );
});
