// The floor: what any gateway on node:http costs at the least. Parses the body, maps execute to tools/call, gives it a
// new id, forwards it over stdio or HTTP, and answers. No check, no search, no second client.
import { spawn } from "node:child_process";
import { Agent, createServer, request as httpRequest } from "node:http";
import { fileURLToPath } from "node:url";

const upstreamUrl = process.argv[2] === "--http" ? new URL(process.argv[3]) : undefined;
const listed = JSON.stringify({
  tools: [
    { name: "discover_mcp_tools" },
    { name: "execute_mcp_tool" },
    { name: "list_mcp_resources" },
    { name: "read_mcp_resource" },
  ].map((tool) => ({
    ...tool,
    description: "x".repeat(200),
    inputSchema: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
  })),
});
const waiting = new Map();
let lastId = 0;
let child;

if (upstreamUrl === undefined) {
  child = spawn(process.execPath, [fileURLToPath(new URL("./echo.mjs", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let parts = [];
  child.stdout.on("data", (chunk) => {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(10, start);
      if (end === -1) break;
      parts.push(chunk.subarray(start, end));
      const message = JSON.parse(Buffer.concat(parts).toString());
      parts = [];
      start = end + 1;
      const done = waiting.get(message.id);
      waiting.delete(message.id);
      done?.(message);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function forward(message, done) {
  lastId += 1;
  const text = JSON.stringify({ ...message, id: lastId });
  if (child !== undefined) {
    waiting.set(lastId, done);
    child.stdin.write(`${text}\n`);
    return;
  }
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": Buffer.byteLength(text),
  };
  const modern = message.params?._meta?.["io.modelcontextprotocol/protocolVersion"];
  if (modern !== undefined)
    Object.assign(headers, {
      "mcp-protocol-version": modern,
      "mcp-method": message.method,
      "mcp-name": message.params.name,
    });
  const request = httpRequest(
    { host: upstreamUrl.hostname, port: upstreamUrl.port, path: upstreamUrl.pathname, method: "POST", agent, headers },
    (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => done(JSON.parse(Buffer.concat(chunks).toString())));
    },
  );
  request.end(text);
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const message = JSON.parse(Buffer.concat(chunks).toString());
    const { id } = message;
    const reply = (body) => {
      const text = JSON.stringify(body);
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.end(text);
    };
    if (message.method === "tools/list") {
      reply({ jsonrpc: "2.0", id, result: JSON.parse(listed) });
      return;
    }
    const { tool_path: path, arguments: args } = message.params.arguments;
    forward(
      {
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: {
          name: path.slice(path.indexOf(":") + 1),
          arguments: args,
          ...(message.params._meta === undefined ? {} : { _meta: message.params._meta }),
        },
      },
      (answer) => reply({ ...answer, id }),
    );
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`));
process.on("SIGTERM", () => {
  child?.stdin.end();
  process.exit(0);
});
