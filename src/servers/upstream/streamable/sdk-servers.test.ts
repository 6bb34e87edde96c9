import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as OldMcpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { Connection, UpstreamRequest } from "../connection.ts";
import { connectHttp, type HttpOptions } from "../remote/connect-http.ts";
import { createLargeBuffers } from "../../../wire/json/large-buffers.ts";
import { untilPasses } from "../../../../test/harness/until-passes.ts";

test("SDK v2, both eras at one URL: each request is answered in its caller's era", async () => {
  const url = await serveNew("stateless");
  const { connection, progress } = await connect(url);
  expect(connection.peer).toMatchObject({ era: "modern", serverInfo: { name: "new" } });
  for (const era of ["modern", "legacy", "modern", "legacy"] as const) {
    expect(await echo(connection, { era })).toEqual({ text: "grüß", era });
  }
  expect(connection.peer.eras).toEqual(["modern", "legacy"]);
  expect(progress).toEqual([1, 1, 1, 1]);
});

test("SDK v2, modern only: legacy callers are served too", async () => {
  const url = await serveNew("reject");
  const { connection } = await connect(url);
  expect(await echo(connection, { era: "legacy" })).toEqual({ text: "grüß", era: "modern" });
  expect(connection.peer.eras).toEqual(["modern"]);
});

test.each([false, true])(
  "SDK v1 over Streamable HTTP with sessions, answering JSON: %s",
  async (enableJsonResponse) => {
    const sessions = new Map<string, StreamableHTTPServerTransport>();
    const url = await listen(async (request, response) => {
      const id = request.headers["mcp-session-id"]?.toString();
      const known = id === undefined ? undefined : sessions.get(id);
      if (id !== undefined && known === undefined) return void response.writeHead(404).end();
      if (known !== undefined) return await known.handleRequest(request, response);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse,
        onsessioninitialized: (session) => void sessions.set(session, transport),
        onsessionclosed: (session) => void sessions.delete(session),
      });
      await buildOld().connect(transport);
      return await transport.handleRequest(request, response);
    });
    const { connection, notifications } = await connect(url);
    expect(connection.peer).toMatchObject({ era: "legacy", revision: "2025-11-25", serverInfo: { name: "old" } });
    expect(await echo(connection)).toEqual({ text: "grüß", answer: enableJsonResponse ? "none" : "yes" });
    if (!enableJsonResponse)
      await untilPasses(() => expect(notifications).toContain("notifications/tools/list_changed"));
    sessions.clear();
    expect(await echo(connection)).toMatchObject({ text: "grüß" });
    expect(sessions.size).toBe(1);
    await connection[Symbol.asyncDispose]();
    expect(sessions.size).toBe(0);
  },
);

test.each(["sse", "http"] as const)("SDK v1 over HTTP+SSE, configured as %s", async (kind) => {
  const sessions = new Map<string, SSEServerTransport>();
  const url = await listen(async (request, response) => {
    const path = new URL(request.url ?? "", "http://localhost");
    if (request.method === "GET" && path.pathname === "/mcp") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      return await buildOld().connect(transport);
    }
    const transport = sessions.get(path.searchParams.get("sessionId") ?? "");
    if (request.method === "POST" && path.pathname === "/messages" && transport)
      return await transport.handlePostMessage(request, response);
    response.writeHead(404).end("Cannot POST");
  });
  const { connection, progress } = await connect(url, kind);
  expect(connection.peer).toMatchObject({ era: "legacy", serverInfo: { name: "old" } });
  expect(await echo(connection)).toEqual({ text: "grüß", answer: "yes" });
  expect(progress).toEqual([1]);
  await sessions.values().next().value?.close();
  await expect(connection.closed).resolves.toMatchObject({ kind: "lost" });
  await expect(echo(connection)).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
});

function serveNew(legacy: "stateless" | "reject"): Promise<string> {
  const build = () => {
    const server = new McpServer({ name: "new", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async ({ text }, context) => {
      const { progressToken } = context.mcpReq._meta ?? {};
      if (progressToken !== undefined)
        await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      const isModern =
        Object.keys(context.mcpReq._meta ?? {}).some((key) => key.startsWith("io.modelcontextprotocol/")) ||
        context.mcpReq.envelope !== undefined;
      return {
        content: [{ type: "text" as const, text: JSON.stringify({ text, era: isModern ? "modern" : "legacy" }) }],
      };
    });
    return server;
  };
  const handle = toNodeHandler(createMcpHandler(build, { legacy }));
  return listen((request, response) => handle(request as Parameters<typeof handle>[0], response));
}

function buildOld(): OldMcpServer {
  const server = new OldMcpServer(
    { name: "old", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.registerTool("echo", { inputSchema: { text: z.string() } }, async ({ text }, extra) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken !== undefined)
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    server.sendToolListChanged();
    const answer = await extra
      .sendRequest(
        {
          method: "elicitation/create",
          params: { message: "sure?", requestedSchema: { type: "object", properties: {} } },
        },
        z.object({ action: z.string() }),
        { timeout: 200 },
      )
      .then(({ action }) => (action === "accept" ? "yes" : "no"))
      .catch(() => "none");
    return { content: [{ type: "text" as const, text: JSON.stringify({ text, answer }) }] };
  });
  return server;
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void handle(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function connect(url: string, kind: "http" | "sse" = "http") {
  const notifications: string[] = [];
  const progress: unknown[] = [];
  const options: HttpOptions = {
    server: "sdk",
    transport: { kind, url, headers: {} },
    identity: { name: "toolyard", version: "0.0.0" },
    limits: { messageBytes: 1 << 20, depth: 64, sendQueueBytes: 1 << 20, stopTimeoutMs: 100 },
    knownEras: undefined,
    memory: createLargeBuffers(),
    events: {
      onNotification: (method) => notifications.push(method),
      onStderr: () => undefined,
      onOddity: () => undefined,
    },
    authorize: undefined,
  };
  const connection = await connectHttp(options, AbortSignal.timeout(20_000));
  onTestFinished(() => connection[Symbol.asyncDispose]());
  progressOf.set(connection, progress);
  return { connection, notifications, progress };
}

const progressOf = new WeakMap<Connection, unknown[]>();

/** Calls echo and gives what it said, parsed. */
async function echo(connection: Connection, changes: Partial<UpstreamRequest> = {}): Promise<unknown> {
  const reply = await connection.request({
    method: "tools/call",
    params: [
      ["name", Buffer.from(`"echo"`)],
      ["arguments", Buffer.from(`{"text":"grüß"}`)],
    ],
    nameHeader: "echo",
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    maxTimeoutMs: 60_000,
    onProgress: ({ progress }) => progressOf.get(connection)?.push(progress),
    ask: async () => ({ kind: "result", result: Buffer.from(`{"action":"accept","content":{}}`) }),
    ...changes,
  });
  if (reply.kind === "error") throw new Error(reply.error.toString());
  const result = JSON.parse(reply.result.toString()) as { content: [{ text: string }] };
  return JSON.parse(result.content[0].text);
}
