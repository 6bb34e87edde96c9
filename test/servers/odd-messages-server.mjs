#!/usr/bin/env node
// An MCP server of revision 2025-06-18 whose messages are as odd as those of real servers. Over stdio, or with `http`
// on a port that it prints, where /mcp and /sse redirect to the same path with a slash.

import { createServer } from "node:http";
import { createInterface } from "node:readline";

const reason = "THE QUOTA IS USED UP";
const message = (members) => JSON.stringify({ jsonrpc: "2.0", ...members });
const answer = (id, result) => message({ id, result, error: null });
const said = (text) => ({ content: [{ type: "text", text }] });
const log = (id) => JSON.stringify({ level: 30, time: 1_767_225_600_000, id, msg: "job fetched", error: "none" });
const tools = {
  "error-beside-null": (id) => [message({ id, result: null, error: { code: -32_000, message: reason } })],
  "error-beside-nothing": (id) => [message({ result: {}, error: { code: "QUOTA", message: reason }, id })],
  "error-text": (id) => [message({ id, error: reason })],
  "error-without-message": (id) => [message({ id, result: "", error: { detail: reason } })],
  "log-line": (id) => [log(id), `[1,${log(id)}]`, '"started"', answer(id, said("fine"))],
  batch: (id) => [`[${log(id)},${answer(id, said("fine"))}]`],
  "twice-in-a-batch": (id) => [`[${answer(id, said("fine"))},${answer(id, said("again"))}]`],
  "bare-answer": (id) => [JSON.stringify({ id, result: said("fine") })],
  "tool-result": (id) => [answer(id, { toolResult: "fine" })],
  grow(id) {
    grown = true;
    const changed = { method: "notifications/tools/list_changed", params: null, id: null };
    return [message(changed), answer(id, said("fine"))];
  },
};
let grown = false;

const methods = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "odd", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: [...Object.keys(tools), ...(grown ? ["grown"] : [])].map((name) => ({
      name,
      inputSchema: { type: "object" },
    })),
    nextCursor: null,
  }),
};

/** The texts that a request is answered with. */
function answersTo({ id, method, params }) {
  if (id === undefined) return [];
  if (method === "tools/call") return tools[params.name]?.(id) ?? [answer(id, said("fine"))];
  const result = methods[method]?.();
  return [
    result === undefined
      ? message({ id, result: null, error: { code: -32_601, message: "Method not found" } })
      : answer(id, result),
  ];
}

const events = (texts) => texts.map((text) => `event: message\r\ndata: ${text}\r\n\r\n`).join("");

function serveHttp() {
  let stream;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.url === "/mcp" || request.url === "/sse")
      return response.writeHead(307, { location: `${request.url}/` }).end("moved");
    if (request.url === "/sse/") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return stream.write("event: endpoint\ndata: /post\n\n");
    }
    if (request.method !== "POST") return response.writeHead(405).end();
    const texts = answersTo(JSON.parse(body));
    if (request.url === "/post") {
      response.writeHead(200).end("accepted");
      return stream.write(events(texts));
    }
    if (texts.length === 1) return response.writeHead(200, { "content-type": "text/plain" }).end(`\ufeff${texts[0]}`);
    if (texts.length === 0) return response.writeHead(200).end("ok");
    return response.writeHead(200, { "content-type": "Text/Event-Stream" }).end(events(texts));
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
}

function serveStdio() {
  process.stdout.write("\ufeff");
  createInterface({ input: process.stdin }).on("line", (line) => {
    for (const text of answersTo(JSON.parse(line))) process.stdout.write(`${text}\r\n`);
  });
}

if (process.argv[2] === "http") serveHttp();
else serveStdio();
