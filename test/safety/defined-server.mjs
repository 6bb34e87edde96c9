// A server that lists what is in a file, and says so when the file changes. What it is called with is written down.
import { appendFileSync, readFileSync, watchFile } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [, , list, log] = process.argv;
const read = () => JSON.parse(readFileSync(list, "utf8"));
const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true } };
const server = new Server({ name: "defined", version: "1" }, { capabilities, instructions: read().instructions });
server.setRequestHandler(ListToolsRequestSchema, () => {
  appendFileSync(log, "listed\n");
  return { tools: read().tools };
});
server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: read().prompts ?? [] }));
server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
  appendFileSync(log, `prompt ${params.name}\n`);
  return { messages: [{ role: "user", content: { type: "text", text: "said" } }] };
});
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  appendFileSync(log, `${params.name}\n`);
  if (params.name === "flood") for (let sent = 0; sent < 1_000; sent += 1) void server.sendToolListChanged();
  return { content: [{ type: "text", text: `ran ${params.name}` }] };
});
watchFile(list, { interval: 50 }, () => {
  void server.sendToolListChanged();
  void server.sendPromptListChanged();
});
await server.connect(new StdioServerTransport());
