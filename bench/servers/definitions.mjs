// Offers the tools that a file has for one server, and can call none of them: `definitions.mjs FILE SERVER`.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, server] = process.argv.slice(2);
const tools = JSON.parse(readFileSync(file, "utf8"))
  .filter((tool) => tool.server === server)
  .map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema }));

const results = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: server, version: "1" },
  },
  "tools/list": { tools },
  ping: {},
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method];
  const body = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
});
