import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An answer as it is sent: an object as JSON, a text as it is, or status, content type and body. */
export type OddAnswer = object | string | RawAnswer;

export interface RawAnswer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

/** Members in place of the usual ones: undefined leaves one out. Or a whole answer. */
export interface OddAnswers {
  readonly resource?: (own: string) => object;
  readonly metadata?: (own: string) => object;
  readonly registration?: (request: Readonly<Record<string, unknown>>) => object;
  readonly device?: object;
  /** In their order; the last one is given again and again. */
  readonly tokens?: readonly OddAnswer[];
  /** What the browser brings back beside code and state. */
  readonly response?: (own: string) => Readonly<Record<string, string>>;
  /** In place of the usual challenge. */
  readonly challenge?: (own: string) => string | undefined;
  /** Takes a request away from the server: true when it was answered. */
  readonly intercept?: (path: string, response: ServerResponse) => boolean;
}

interface AskedRequest {
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
}

interface Asked {
  readonly url: URL;
  readonly body: string;
  readonly authorization: string | undefined;
}

export interface OddServer extends AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  /** All requests, oldest first. */
  readonly asked: readonly AskedRequest[];
}

/**
 * An MCP server and its authorization server at one origin, which answers as it is told and takes every token that
 * begins with `t`.
 */
export async function startOddServer(answers: OddAnswers = {}): Promise<OddServer> {
  const asked: AskedRequest[] = [];
  let given = 0;
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const url = new URL(request.url ?? "", origin);
      const { authorization } = request.headers;
      asked.push({ path: url.pathname, body, authorization });
      if (answers.intercept?.(url.pathname, response) !== true) answer({ url, body, authorization }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function answer({ url, body, authorization }: Asked, response: ServerResponse): void {
    const { pathname: path, searchParams: query } = url;
    if (path === "/.well-known/oauth-protected-resource/mcp")
      return send(response, {
        resource: `${origin}/mcp`,
        authorization_servers: [origin],
        ...answers.resource?.(origin),
      });
    if (path === "/.well-known/oauth-authorization-server")
      return send(response, { ...usualMetadata(origin), ...answers.metadata?.(origin) });
    if (path === "/register") {
      const wanted = JSON.parse(body) as Record<string, unknown>;
      return send(response, answers.registration?.(wanted) ?? { ...wanted, client_id: "c" });
    }
    if (path === "/device") return send(response, { ...usualDevice(origin), ...answers.device });
    if (path === "/authorize") {
      const back = new URL(query.get("redirect_uri") ?? "");
      const brought = { code: "code", state: query.get("state") ?? "", ...answers.response?.(origin) };
      back.search = new URLSearchParams(brought).toString();
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (path === "/token") {
      const tokens = answers.tokens ?? [];
      return send(response, tokens[Math.min(given++, tokens.length - 1)] ?? usualTokens);
    }
    if (path !== "/mcp") return void response.writeHead(404).end();
    if (authorization?.startsWith("Bearer t") === true) return serveMcp(response, body);
    const challenge =
      answers.challenge === undefined
        ? `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
        : answers.challenge(origin);
    response.writeHead(401, challenge === undefined ? {} : { "www-authenticate": challenge }).end();
  }

  return {
    origin,
    url: `${origin}/mcp`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export const usualTokens = { access_token: "t1", token_type: "Bearer", expires_in: 3_600, refresh_token: "r1" };

function usualMetadata(own: string): object {
  return {
    issuer: own,
    authorization_endpoint: `${own}/authorize`,
    token_endpoint: `${own}/token`,
    registration_endpoint: `${own}/register`,
    device_authorization_endpoint: `${own}/device`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
  };
}

function usualDevice(own: string): object {
  return { device_code: "d", user_code: "AB-CD", verification_uri: `${own}/type`, expires_in: 600, interval: 1 };
}

const tools = [{ name: "ping", description: "Answers.", inputSchema: { type: "object", properties: {} } }];

function serveMcp(response: ServerResponse, body: string): void {
  const { id, method } = (body === "" ? {} : JSON.parse(body)) as { id?: unknown; method?: string };
  if (method === undefined) return void response.writeHead(405).end();
  if (id === undefined) return void response.writeHead(202).end();
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "odd", version: "1" },
    },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "pong" }] },
  };
  const result = results[method];
  const error = { code: -32_601, message: "no such method" };
  send(response, { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) });
}

function send(response: ServerResponse, answer: OddAnswer): void {
  const { status, type, body }: RawAnswer = isRaw(answer)
    ? answer
    : { status: 200, body: typeof answer === "string" ? answer : JSON.stringify(answer) };
  response.writeHead(status, { "content-type": type ?? "application/json" }).end(body);
}

function isRaw(answer: OddAnswer): answer is RawAnswer {
  return typeof answer === "object" && "body" in answer && "status" in answer;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
  return body;
}
