// The cheapest MCP server there can be: answers over stdio, or with --http over HTTP, in whatever era it is asked.
import { createServer } from "node:http";

const modernMeta = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1"}}';
const tools = [
  {
    name: "echo",
    description: "Echoes a message",
    inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
  },
  { name: "big", description: "Answers with a megabyte of text", inputSchema: { type: "object", properties: {} } },
  { name: "prose", description: "Answers with a megabyte as people write", inputSchema: { type: "object" } },
  {
    name: "label",
    description: "Echoes a message that has labels",
    inputSchema: {
      type: "object",
      properties: {
        message: { type: "string" },
        labels: { type: "array", items: { type: "string" }, contains: { minLength: 1 } },
      },
      required: ["message"],
    },
  },
  { name: "huge", description: "Answers with 31 MiB", inputSchema: { type: "object" } },
];
const extraTools = Number(process.env.BENCH_TOOLS ?? 0);
for (let index = 0; index < extraTools; index += 1) {
  tools.push({
    name: `tool_${index}`,
    description: `Does thing number ${index} with a document, a folder or a message, and tells what came of it`,
    inputSchema: {
      type: "object",
      properties: { path: { type: "string", description: "where it lies" }, depth: { type: "integer" } },
      required: ["path"],
    },
  });
}
const bigText = "The quick brown fox jumps over the lazy dog. ".repeat(Math.ceil(1_048_576 / 45)).slice(0, 1_048_576);
// Quotes, ends of lines, and letters beyond Latin-1: what documents, code and mails are made of.
const paragraph = `"Das Öl", said she, "costs 4,20 € - that’s 5 % more than in Łódź."\n\tif (name === "größe") return 'x';\n\n* Привет, мир: it’s in the second column\n* C:\\Users\\Zoë\\Документы\n\nThe quick brown fox jumps over the lazy dog, and everybody who saw it went home again.\n`;
const prose = paragraph.repeat(Math.ceil(1_048_576 / Buffer.byteLength(paragraph)));
let huge;
const texts = { big: () => bigText, prose: () => prose, huge: () => (huge ??= prose.repeat(28)) };

function answer(message) {
  const { id, method, params } = message;
  const isModern = params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  const wrap = (result) =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${isModern ? `{"resultType":"complete",${modernMeta},${JSON.stringify(result).slice(1)}` : JSON.stringify(result)}}`;
  switch (method) {
    case "initialize":
      return wrap({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "1" },
      });
    case "server/discover":
      if (process.env.BENCH_ERA === "legacy") break;
      return wrap({
        supportedVersions: ["2026-07-28", "2025-11-25"],
        capabilities: { tools: {} },
        ttlMs: 3_600_000,
        cacheScope: "public",
      });
    case "tools/list":
      return wrap({ tools });
    case "tools/call":
      return wrap({
        content: [{ type: "text", text: texts[params.name]?.() ?? `Echo: ${params.arguments?.message}` }],
      });
  }
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},"error":{"code":-32601,"message":"Method not found"}}`;
}

if (process.argv.includes("--http")) {
  const server = createServer((request, response) => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const message = JSON.parse(Buffer.concat(chunks).toString());
      if (message.id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const text = answer(message);
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.end(text);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () =>
    process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/mcp\n`),
  );
} else {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    rest += chunk;
    const lines = rest.split("\n");
    rest = lines.pop();
    let out = "";
    for (const line of lines) {
      if (line === "") continue;
      const message = JSON.parse(line);
      if (message.id !== undefined) out += `${answer(message)}\n`;
    }
    if (out !== "") process.stdout.write(out);
  });
  process.stdin.on("end", () => process.exit(0));
}
