// A tool whose optional arguments a form could fill in by itself, which says what it was given.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const repeat = (kind, more) => ({
  type: "object",
  properties: { kind: { const: kind }, ...more },
  required: ["kind", ...Object.keys(more)],
});
const repeats = [
  repeat("weekly", { days: { type: "array", items: { type: "string" } } }),
  repeat("monthly", { day: { type: "integer" } }),
];
const inputSchema = {
  type: "object",
  properties: {
    title: { type: "string" },
    guests: { type: "array", items: { type: "string" } },
    place: { type: "object", properties: { room: { type: "string" }, floors: { type: "array", items: {} } } },
    repeat: { oneOf: repeats },
  },
  required: ["title"],
};
const server = new Server({ name: "booking", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "book", inputSchema }] }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: "text", text: `booked ${JSON.stringify(params.arguments)}` }],
}));
await server.connect(new StdioServerTransport());
