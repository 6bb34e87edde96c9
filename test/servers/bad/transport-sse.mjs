// The transport of 2024-11-05: answers come on a GET stream, whose first event names the URL to post to.

import { randomUUID } from "node:crypto";
import { describe, listen, parse, readBody, refuse } from "./transport-http.mjs";

/**
 * @typedef {import("./exchange.mjs").Session & {
 *   stream: import("node:http").ServerResponse; requests: Map<unknown, AbortController>;
 * }} SseSession
 */

/** @param {import("./server.mjs").BadServer} server */
export async function serveSse(server) {
  /** @type {Map<string, SseSession>} */
  const sessions = new Map();
  const port = await listen(server, async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname === "/sse" && request.method === "GET") return openStream(server, sessions, response);
    const session = sessions.get(url.searchParams.get("sessionId") ?? "");
    if (url.pathname !== "/messages" || request.method !== "POST") return refuse(response, 405, "method not allowed");
    if (session === undefined) return refuse(response, 404, "session not found");
    const text = await readBody(request);
    response.writeHead(202).end("Accepted");
    const { method, id, params } = parse(text) ?? {};
    if (method === "notifications/cancelled") session.requests.get(params?.requestId)?.abort();
    const wire = createWire(session, request.headers, method === undefined ? undefined : id);
    await server.receive(text, wire, describe(request));
  });
  process.stdout.write(`listening on http://127.0.0.1:${port}/sse\n`);
}

function openStream(server, sessions, stream) {
  const id = randomUUID();
  const session = {
    id,
    stream,
    /** @type {Map<unknown, AbortController>} Those that are not answered yet. */
    requests: new Map(),
    memory: new Map(),
    push: (text) => stream.write(frame(text)),
    end: () => stream.end(),
  };
  sessions.set(id, session);
  server.sessions.add(session);
  stream.once("close", () => {
    sessions.delete(id);
    server.sessions.delete(session);
    for (const request of session.requests.values()) request.abort();
  });
  stream.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  stream.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
}

function createWire(session, headers, id) {
  const gone = new AbortController();
  if (id !== undefined) session.requests.set(id, gone);
  const end = () => session.requests.delete(id);
  return {
    kind: "sse",
    session,
    gone: gone.signal,
    headers,
    frame,
    write: (bytes) => new Promise((resolve) => session.stream.write(bytes, () => resolve(undefined))),
    finish(text) {
      end();
      session.push(text);
    },
    end,
  };
}

const frame = (text, eol = "\n") => Buffer.from(`event: message${eol || "\n"}data: ${text}${eol}${eol}`);
