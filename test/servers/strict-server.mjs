// A legacy server that is strict where others are lenient, over stdio, Streamable HTTP (--http) or HTTP+SSE (--sse).
// The argument is JSON, or --rules=FILE with it: which revisions it takes, how it refuses others, which members of
// capabilities it knows, and what ends it. `seen` answers with the methods that the process has had, `ask` with what a
// question got.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const flags = process.argv.slice(2);
const rulesFile = flags.find((flag) => flag.startsWith("--rules="))?.slice("--rules=".length);
const rules = JSON.parse(
  rulesFile === undefined ? (flags.find((flag) => flag.startsWith("{")) ?? "{}") : readFileSync(rulesFile, "utf8"),
);
const seen = [];
let isOpen = false;
let nextAsked = 1_000;
const asked = new Map();

/** The answer to a message, or undefined; `send` is the way for messages of the server's own. */
async function answer(message, send) {
  const { id, method, params } = message;
  if (method === undefined) return void asked.get(id)?.(message);
  seen.push(method === "initialize" ? `initialize ${params.protocolVersion}` : method);
  if (!isOpen && method !== "initialize" && method !== "ping" && rules.endsAtProbe !== undefined)
    process.exit(rules.endsAtProbe);
  if (id === undefined) return undefined;
  const result = (value) => ({ jsonrpc: "2.0", id, result: value });
  const error = (code, text, data) => ({ jsonrpc: "2.0", id, error: { code, message: text, data } });
  switch (method) {
    case "initialize": {
      const { protocolVersion: revision, capabilities } = params;
      const unknown = unknownIn(capabilities);
      if (unknown !== undefined) return error(-32603, `Unrecognized field "${unknown}", not marked as ignorable`);
      if (rules.revisions !== undefined && !rules.revisions.includes(revision))
        return error(-32602, "Unsupported protocol version", rules.names ? { supported: rules.revisions } : undefined);
      isOpen = true;
      const serverInfo = { name: "strict", version: rules.version ?? "1" };
      return result({ protocolVersion: rules.says ?? revision, capabilities: { tools: {} }, serverInfo });
    }
    case "ping":
      return result({});
    case "tools/list":
      return result({ tools: ["seen", "ask"].map((name) => ({ name, inputSchema: { type: "object" } })) });
    case "tools/call": {
      if (params.name === "seen") return result(text(JSON.stringify(seen)));
      const given = await ask(send, params.arguments);
      return result(text(JSON.stringify(given.error ?? given.result)));
    }
    default:
      return error(-32601, "Method not found");
  }
}

async function ask(send, { method, params }) {
  nextAsked += 1;
  const got = new Promise((resolve) => asked.set(nextAsked, resolve));
  send({ jsonrpc: "2.0", id: nextAsked, method, params });
  return await got;
}

const text = (said) => ({ content: [{ type: "text", text: said }] });

/** The first member that the rules do not have, as a parser refuses it that knows its classes only. */
function unknownIn(capabilities) {
  const { fields } = rules;
  if (fields === undefined) return undefined;
  for (const [name, value] of Object.entries(capabilities)) {
    if (fields[name] === undefined) return name;
    const inner = Object.keys(value).find((member) => !fields[name].includes(member));
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function write(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
  if (rules.endsAfterCall && message.result?.content !== undefined) process.exit(0);
}

if (flags.includes("--http") || flags.includes("--sse")) {
  const streams = new Set();
  const event = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === "GET" && flags.includes("--sse") && request.url === "/mcp") {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /post\n\n");
      streams.add(response);
      return;
    }
    if (request.method !== "POST" || (flags.includes("--sse") && request.url === "/mcp"))
      return response.writeHead(405).end();
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (flags.includes("--sse")) {
      response.writeHead(202).end();
      const send = (given) => [...streams].at(-1).write(event(given));
      const given = await answer(message, send);
      if (given !== undefined) send(given);
      return;
    }
    if (message.method === "tools/call" && message.params.name === "ask") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.end(event(await answer(message, (given) => response.write(event(given)))));
    }
    if (rules.probeStatus !== undefined && message.method === "server/discover") {
      seen.push(message.method);
      return response.writeHead(rules.probeStatus, rules.probeHeaders).end("no");
    }
    const given = await answer(message);
    if (given === undefined) return response.writeHead(202).end();
    const { error } = given;
    if (error !== undefined && message.method === "initialize" && rules.refusesInText !== undefined) {
      const supported = rules.names ? ` (supported: ${rules.revisions})` : "";
      return response.writeHead(rules.refusesInText, { "content-type": "text/plain" }).end(error.message + supported);
    }
    if (error !== undefined && message.method === "initialize" && rules.refusesOddly !== undefined) {
      response.writeHead(rules.refusesOddly, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonRpcError: error }));
    }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(given));
  }).listen(0, "127.0.0.1", function listening() {
    process.stdout.write(`http://127.0.0.1:${this.address().port}/mcp\n`);
  });
} else
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const given = await answer(JSON.parse(line), write);
    if (given !== undefined) write(given);
  });
