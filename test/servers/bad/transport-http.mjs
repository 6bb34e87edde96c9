// Streamable HTTP of both eras. An answer is JSON until something else has to be said first; then it is an event
// stream.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { eraOf } from "./exchange.mjs";
import { record } from "./records.mjs";

const json = { "content-type": "application/json" };
const eventStream = { "content-type": "text/event-stream", "cache-control": "no-cache" };

/** @param {import("./server.mjs").BadServer} server */
export async function serveHttp(server) {
  /** @type {Map<string, import("./exchange.mjs").Session>} */
  const sessions = new Map();
  const port = await listen(server, (request, response) => serve(server, sessions, request, response));
  process.stdout.write(`listening on http://127.0.0.1:${port}/mcp\n`);
}

/** Listens, and answers what goes wrong before a message is read: --http-status and --require-auth. */
export async function listen(server, serveRequest) {
  const { options } = server;
  const http = createServer((request, response) => {
    if (options["http-status"] !== undefined) {
      record(options, describe(request));
      return refuse(response, options["http-status"], "refused, as asked", { "retry-after": "1" });
    }
    if (
      options["require-auth"] !== undefined &&
      request.headers.authorization !== `Bearer ${options["require-auth"]}`
    ) {
      record(options, describe(request));
      return refuse(response, 401, "unauthorized", {
        "www-authenticate": 'Bearer error="invalid_token"',
      });
    }
    serveRequest(request, response).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      response.destroy();
    });
  });
  await new Promise((resolve, reject) =>
    http.once("error", reject).listen(options.port, "127.0.0.1", () => resolve(undefined)),
  );
  return http.address().port;
}

async function serve(server, sessions, request, response) {
  if (new URL(request.url, "http://localhost").pathname !== "/mcp") return refuse(response, 404, "not found");
  if (request.method === "POST") return servePost(server, sessions, request, response);
  record(server.options, describe(request));
  const session = sessions.get(request.headers["mcp-session-id"]);
  if (!server.options.session) return refuse(response, 405, "method not allowed", { allow: "POST" });
  if (session === undefined) return refuse(response, 404, "session not found");
  if (request.method === "GET") return openStream(session, response);
  if (request.method === "DELETE") session.end();
  response.writeHead(request.method === "DELETE" ? 200 : 405).end();
}

async function servePost(server, sessions, request, response) {
  const text = await readBody(request);
  const message = parse(text);
  const isInitialize = message?.method === "initialize";
  const isLegacy = server.options.era === "legacy" || message === undefined || eraOf(message) === "legacy";
  const id = request.headers["mcp-session-id"];
  if (server.options.session && isLegacy && !isInitialize && message?.method !== "server/discover") {
    if (id === undefined || !sessions.has(id)) {
      record(server.options, { ...describe(request), message });
      return refuse(
        response,
        id === undefined ? 400 : 404,
        id === undefined ? "session id required" : "session not found",
      );
    }
  }
  const session = isInitialize && server.options.session ? openSession(server, sessions) : sessions.get(id);
  const wire = createWire(request, response, session ?? createSession("none", () => {}), server.options);
  if (message?.id === undefined || message?.method === undefined) {
    response.writeHead(message === undefined ? 400 : 202).end();
  }
  await server.receive(text, wire, describe(request));
}

function createSession(id, onEnd) {
  const streams = new Set();
  const session = {
    id,
    streams,
    memory: new Map(),
    push(text) {
      for (const stream of streams) stream.write(frame(text));
    },
    end() {
      onEnd(session);
      for (const stream of streams) stream.end();
    },
  };
  return session;
}

function openSession(server, sessions) {
  const session = createSession(randomUUID(), () => {
    sessions.delete(session.id);
    server.sessions.delete(session);
  });
  sessions.set(session.id, session);
  server.sessions.add(session);
  return session;
}

function openStream(session, response) {
  response.writeHead(200, eventStream);
  response.flushHeaders();
  session.streams.add(response);
  response.once("close", () => session.streams.delete(response));
}

function createWire(request, response, session, options) {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  // A client that goes away while this writes is no failure of the server.
  response.on("error", () => gone.abort());
  const sessionHeader = session.id === "none" ? {} : { "mcp-session-id": session.id };
  const startStream = () => response.headersSent || response.writeHead(200, { ...eventStream, ...sessionHeader });
  return {
    kind: "http",
    session,
    gone: gone.signal,
    headers: request.headers,
    response,
    frame,
    async write(bytes) {
      if (response.destroyed || response.writableEnded) return;
      startStream();
      await new Promise((resolve) => response.write(bytes, () => resolve(undefined)));
    },
    finish(text, status) {
      if (response.writableEnded) return;
      if (options["http-sse-answers"] && status === 200) startStream();
      if (response.headersSent) response.end(frame(text));
      else response.writeHead(status, { ...json, ...sessionHeader }).end(text);
    },
    end: () => response.end(),
  };
}

/** An event of one line; without an end of line it is left open. */
const frame = (text, eol = "\n") => Buffer.from(`event: message${eol || "\n"}data: ${text}${eol}${eol}`);

export async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export const describe = ({ method, url, headers }) => ({ method, url, headers });

export function refuse(response, status, reason, headers = {}) {
  response.writeHead(status, { ...json, ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message: reason }, id: null }));
}

export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
