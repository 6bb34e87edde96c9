#!/usr/bin/env node
// An MCP server that holds state, over stdio: a number that is gone with its process. With `--write-pid FILE` it
// appends `PID server` there.

import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

let count = 0;
const file = process.argv.indexOf("--write-pid");
if (file !== -1) appendFileSync(process.argv[file + 1], `${process.pid} server\n`);

const inputSchema = { type: "object" };
const tools = {
  add: ["Counts one more.", () => text(String((count += 1)))],
  fail: ["Fails, as a tool does.", () => ({ ...text("no such page"), isError: true })],
  empty: ["Answers with nothing.", () => ({ content: [], _meta: { own: 1 } })],
  refuse: ["Answers with a JSON-RPC error.", () => undefined],
  crash: ["Ends the process with exit code 3.", () => process.exit(3)],
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "counter", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: Object.entries(tools).map(([name, [description]]) => ({ name, description, inputSchema })),
  }),
  "tools/call": ({ name }) => tools[name]?.[1](),
  "resources/list": () => ({ resources: [{ uri: "counter://now", name: "now" }] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: String(count) }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "prompts/list": () => ({ prompts: [{ name: "now" }] }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: String(count) } }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = methods[method]?.(params ?? {});
  const answer = result === undefined ? { error: { code: -32601, message: "not here" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});

function text(value) {
  return { content: [{ type: "text", text: value }] };
}
