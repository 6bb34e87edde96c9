// `node stand-in.mjs NAME [PORT]`: a server that answers as one of the SDKs of sdks.mjs does, over stdio or, with a
// port, as Streamable HTTP at /mcp.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { sdks } from "./sdks.mjs";

const [name, port] = process.argv.slice(2);
const sdk = sdks[name];
if (sdk === undefined) throw new Error(`there is no stand-in ${name}: ${Object.keys(sdks).join(", ")}`);
if (port === undefined) serveStdio();
else serveHttp(Number(port));

function serveStdio() {
  const peer = createPeer((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));
  createInterface({ input: process.stdin }).on("line", (line) => peer.receive(JSON.parse(line)));
}

function serveHttp(at) {
  const sessions = new Map();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = body === "" ? undefined : JSON.parse(body);
    const { method, headers } = request;
    const session = headers["mcp-session-id"];
    const refusal = sdk.refuse({ message, method, headers, isKnownSession: sessions.has(session) });
    if (refusal !== undefined)
      return response.writeHead(refusal.status, { "content-type": refusal.type }).end(refusal.body);
    if (method === "DELETE") return response.writeHead(sessions.delete(session) ? 200 : 404).end();
    // It has nothing to send outside of answers; the stream is open all the same.
    if (method === "GET") return response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    answer(message, session, response);
  });
  server.listen(at, "127.0.0.1");
  process.once("SIGTERM", () => process.exit(0));

  function answer(message, session, response) {
    const id = sessions.has(session) ? session : randomUUID();
    const send = (said) => {
      const type = sdk.answersWithJson ? "application/json" : "text/event-stream";
      const text = JSON.stringify(said);
      response.writeHead(200, { "content-type": type, "mcp-session-id": id });
      response.end(sdk.answersWithJson ? text : `event: message\ndata: ${text}\n\n`);
    };
    const peer = sessions.get(id) ?? createPeer();
    sessions.set(id, peer);
    if (message.id === undefined) response.writeHead(202).end();
    peer.receive(message, send);
  }
}

function createPeer(always) {
  const peer = { isInitialized: false, isReady: false };
  const waiting = [];
  function receive(message, send = always) {
    if (message.method === "notifications/initialized") {
      peer.isReady = true;
      for (const [held, sendHeld] of waiting.splice(0)) receive(held, sendHeld);
    }
    if (message.id === undefined || message.method === undefined) return;
    const reply = sdk.reply({ params: {}, ...message }, peer);
    if ("waits" in reply) waiting.push([message, send]);
    else if ("exits" in reply) {
      if (reply.says !== undefined) process.stderr.write(`${reply.says}\n`);
      process.exit(reply.exits);
    } else {
      if (message.method === "initialize" && "result" in reply) peer.isInitialized = true;
      send({ jsonrpc: "2.0", id: message.id, ...reply });
    }
  }
  return { receive };
}
