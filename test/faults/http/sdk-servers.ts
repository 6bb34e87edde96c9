import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as LegacyServer, ResourceTemplate as LegacyTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export interface SdkServer extends AsyncDisposable {
  readonly url: string;
}

const echoed = { description: "Says what it was told", inputSchema: z.object({ text: z.string() }) };

/** One small server, written with either major version of the SDK. */
function register(
  server: McpServer | LegacyServer,
  template: unknown,
  toPromptSchema: (shape: { who: z.ZodString }) => unknown,
): void {
  // Both versions take the same arguments, but each knows only its own types for them.
  const either = server as unknown as Record<
    "registerTool" | "registerResource" | "registerPrompt",
    (...given: unknown[]) => void
  >;
  either.registerTool("echo", echoed, async ({ text }: { text: string }) => ({ content: [{ type: "text", text }] }));
  either.registerTool("fail", { description: "Fails" }, async () => ({
    content: [{ type: "text", text: "no" }],
    isError: true,
  }));
  either.registerTool("throw", { description: "Throws" }, async () => {
    throw new Error("thrown");
  });
  either.registerResource("text", "test://text", { mimeType: "text/plain" }, async (uri: URL) => ({
    contents: [{ uri: uri.href, text: "hello" }],
  }));
  either.registerResource("numbered", template, {}, async (uri: URL) => ({
    contents: [{ uri: uri.href, text: "n" }],
  }));
  either.registerPrompt(
    "greet",
    { description: "Greets", argsSchema: toPromptSchema({ who: z.string() }) },
    async ({ who }: { who: string }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Hi ${who}` } }],
    }),
  );
}

/** SDK 2: modern requests, and legacy ones without a session. */
export async function startSdkHandler(): Promise<SdkServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "sdk", version: "2" });
    register(server, new ResourceTemplate("test://n/{n}", { list: undefined }), (shape) => z.object(shape));
    return server;
  });
  const serve = toNodeHandler(handler);
  return await listen(async (request, response) => await serve(request as never, response));
}

/**
 * SDK 1: sessions. Who names no session gets a transport that has none yet; who names an unknown one, a transport
 * that has another.
 */
export async function startSdkSessions(): Promise<SdkServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return await listen(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? (sessions.get(id) ?? [...sessions.values()][0]) : undefined;
    const transport = known ?? (await create());
    await transport.handleRequest(request, response);
  });

  async function create(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = new LegacyServer({ name: "sdk", version: "1" });
    register(server, new LegacyTemplate("test://n/{n}", { list: undefined }), (shape) => shape);
    await server.connect(transport);
    return transport;
  }
}

async function listen(
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
): Promise<SdkServer> {
  const http = createServer((request, response) => {
    serve(request, response).catch(() => response.headersSent || response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}
