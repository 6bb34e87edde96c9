// A server that says what it was told to: in results, errors, progress, log messages, questions, resources, prompts.
import { appendFileSync, readFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

// What it says is in a file: in its arguments it would be a value of its own.
const [, , log, said] = process.argv;
const server = new Server(
  { name: "talking", version: "1" },
  { capabilities: { tools: {}, resources: {}, prompts: {}, logging: {}, completions: {} } },
);
const inputSchema = { type: "object", properties: {} };
const names = [
  "read_page",
  "say",
  "fail",
  "refuse",
  "progress",
  "question",
  "large",
  "send_mail",
  "delete_page",
  "env",
];
const readSaid = () => (said === undefined ? "" : readFileSync(said, "utf8"));
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: names.map((name) => ({ name, inputSchema })) }));
server.setRequestHandler(ListResourcesRequestSchema, () => ({
  resources: [{ uri: "page://one", name: "one" }],
}));
server.setRequestHandler(ListPromptsRequestSchema, () => ({
  prompts: [{ name: "summary", arguments: [{ name: "text" }] }],
}));
const text = (value) => ({ content: [{ type: "text", text: value }] });
const note = (what) => appendFileSync(log, `${JSON.stringify(what)}\n`);
server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
  note(["read", uri]);
  return { contents: [{ uri, text: `page: ${readSaid()}` }] };
});
server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
  note(["prompt", params.arguments]);
  return { messages: [{ role: "user", content: { type: "text", text: `prompt: ${readSaid()}` } }] };
});
server.setRequestHandler(CompleteRequestSchema, ({ params }) => {
  note(["complete", params.argument]);
  return { completion: { values: [readSaid()] } };
});
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, sendRequest }) => {
  note([params.name, params.arguments]);
  switch (params.name) {
    case "fail":
      return { ...text(`failed: ${readSaid()}`), isError: true };
    case "refuse":
      throw new McpError(-32_000, `refused: ${readSaid()}`);
    case "progress": {
      const { progressToken } = params._meta ?? {};
      if (progressToken !== undefined)
        await sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress: 1, message: `progress: ${readSaid()}` },
        });
      await sendNotification({
        method: "notifications/message",
        params: { level: "info", data: `log: ${readSaid()}` },
      });
      return text("done");
    }
    case "question": {
      const answer = await sendRequest(
        {
          method: "elicitation/create",
          params: {
            message: `question: ${readSaid()}`,
            requestedSchema: { type: "object", properties: { a: { type: "string" } } },
          },
        },
        { parse: (value) => value, safeParse: (data) => ({ success: true, data }) },
      );
      return text(JSON.stringify(answer.content ?? {}));
    }
    case "large": {
      const { before = 0, after = 0 } = params.arguments ?? {};
      return text(`${"x".repeat(before)} ${readSaid()} ${"y".repeat(after)}`);
    }
    case "env":
      return text(process.env[params.arguments.name] ?? "none");
    default:
      return text(params.arguments?.echo ?? `ran ${params.name}: ${readSaid()}`);
  }
});
await server.connect(new StdioServerTransport());
