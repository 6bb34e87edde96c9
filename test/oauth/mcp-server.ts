import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { closeServer } from "./authorization-server.ts";

interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** Method of the JSON-RPC message; empty for other requests. */
  readonly rpc: string;
  readonly status: number;
}

export interface ProtectedServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
}

export interface ProtectedServerOptions {
  /** Whether a bearer token opens this server. */
  readonly accepts: (token: string, resource: string) => Promise<boolean>;
  readonly issuer: () => string;
  /** Where clients reach it, when something in front ends TLS. */
  readonly publicUrl?: string;
  /** In place of the usual protected-resource metadata. */
  readonly metadata?: (response: ServerResponse, request: IncomingMessage) => void;
  /** Takes a request away from the server: true when it was answered. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse, rpc: string) => boolean;
}

/**
 * An MCP server of the legacy era, without sessions, that wants a bearer token of its own; tool `headers` tells what
 * it was sent.
 */
export async function startProtectedServer(options: ProtectedServerOptions): Promise<ProtectedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const message = parse(body);
      response.on("close", () =>
        seen.push({
          method: request.method ?? "",
          path: request.url ?? "",
          headers: request.headers,
          rpc: message.method ?? "",
          status: response.statusCode,
        }),
      );
      await answer(request, response, message);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = options.publicUrl ?? `http://127.0.0.1:${port}/mcp`;
  const { origin } = new URL(url);

  async function answer(request: IncomingMessage, response: ServerResponse, message: Message): Promise<void> {
    if (options.intercept?.(request, response, message.method ?? "") === true) return;
    if (request.url?.startsWith("/.well-known/oauth-protected-resource") === true) {
      if (options.metadata === undefined)
        json(response, 200, {
          resource: url,
          authorization_servers: [options.issuer()],
          scopes_supported: ["mcp:use"],
        });
      else options.metadata(response, request);
      return;
    }
    if (request.url !== "/mcp") return json(response, 404, {});
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined || !(await options.accepts(token, url))) {
      response.setHeader(
        "www-authenticate",
        `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="mcp:use"`,
      );
      return json(response, 401, { error: "invalid_token" });
    }
    if (request.method !== "POST") return json(response, 405, {});
    if (message.id === undefined) return void response.writeHead(202).end();
    reply(response, message, request);
  }

  return { url, port, seen, [Symbol.asyncDispose]: async () => await closeServer(server) };
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
}

const tools = [
  {
    name: "headers",
    description: "Tells the headers of this request.",
    inputSchema: { type: "object", properties: {} },
  },
];

function reply(response: ServerResponse, message: Message, request: IncomingMessage): void {
  const result = (value: unknown) => json(response, 200, { jsonrpc: "2.0", id: message.id, result: value });
  if (message.method === "initialize")
    result({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "protected", version: "1" },
    });
  else if (message.method === "tools/list") result({ tools });
  else if (message.method === "tools/call")
    result({ content: [{ type: "text", text: Object.keys(request.headers).sort().join(" ") }] });
  else
    json(response, message.method === "server/discover" ? 400 : 200, {
      jsonrpc: "2.0",
      id: message.id,
      error: { code: -32601, message: "no such method" },
    });
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function parse(body: string): Message {
  try {
    return JSON.parse(body) as Message;
  } catch {
    return {};
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
  return body;
}
