// Streamable HTTP of both eras at one URL: modern requests have an instance each, legacy ones a session.

import { createServer } from "node:http";
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import {
  classifyInboundRequest,
  createMcpHandler,
  createRequestStateCodec,
  isInitializeRequest,
} from "@modelcontextprotocol/server";
import { buildReferenceServer } from "./build.mjs";
import { createEventStore } from "./event-store.mjs";

/**
 * Listens on 127.0.0.1.
 * @param {number} port 0 for any free one
 * @param {number} retryMs how long a client is told to wait before it comes back for the rest of a closed stream
 * @returns {Promise<{ url: string }>}
 */
export async function serveHttp(port, retryMs) {
  const endpoint = createEndpoint(retryMs);
  const http = createServer((request, response) => {
    endpoint(request, response).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      if (!response.headersSent) refuse(response, 500, -32603, "Internal error");
    });
  });
  await new Promise((resolve, reject) => http.once("error", reject).listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${http.address().port}/mcp` };
}

function createEndpoint(retryMs) {
  const isLocalHost = localhostHostValidation();
  const isLocalOrigin = localhostOriginValidation();
  /** @type {Map<string, NodeStreamableHTTPServerTransport>} */
  const sessions = new Map();
  const serving = {
    stateCodec: createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) }),
    announceTools: () => modern.notify.toolsChanged(),
    announcePrompts: () => modern.notify.promptsChanged(),
    retryMs,
    closeStream: (sessionId, requestId) => sessions.get(sessionId)?.closeSSEStream(requestId),
  };
  const modern = createMcpHandler(() => buildReferenceServer(serving), { legacy: "reject" });
  const serveModern = toNodeHandler(modern);

  return async (request, response) => {
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
    if (new URL(request.url, "http://localhost").pathname !== "/mcp") return refuse(response, 404, -32000, "Not found");
    const body = request.method === "POST" ? await readJson(request) : undefined;
    if (request.method === "POST" && body === undefined) return refuse(response, 400, -32700, "Parse error");
    if (isModern(request, body)) return serveModern(request, response, body);
    const transport = await findSession(request, body, sessions, serving);
    if (transport === undefined) {
      const isUnknown = request.headers["mcp-session-id"] !== undefined;
      return isUnknown
        ? refuse(response, 404, -32001, "Session not found")
        : refuse(response, 400, -32000, "A session id is required");
    }
    await transport.handleRequest(request, response, body);
  };
}

function isModern({ method, headers }, body) {
  if (method !== "POST") return false;
  const route = classifyInboundRequest({
    httpMethod: method,
    protocolVersionHeader: headers["mcp-protocol-version"],
    mcpMethodHeader: headers["mcp-method"],
    body,
  });
  return route.kind !== "legacy";
}

async function findSession({ headers }, body, sessions, serving) {
  const id = headers["mcp-session-id"];
  if (id !== undefined) return sessions.get(id);
  if (!isInitializeRequest(body)) return undefined;
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    eventStore: createEventStore(),
    retryInterval: serving.retryMs,
    onsessioninitialized: (sessionId) => sessions.set(sessionId, transport),
    onsessionclosed: (sessionId) => sessions.delete(sessionId),
  });
  await buildReferenceServer(serving).connect(transport);
  return transport;
}

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function refuse(response, status, code, message) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }));
}
