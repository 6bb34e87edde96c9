// An MCP server over stdio that answers a call with the params it was sent, byte for byte, or refuses it: `refuse` is
// "result", "error" or "data". Its schema names formats, which it does not check.
import { createInterface } from "node:readline";

const text = (format) => ({ type: "string", format });
const when = { when: text("date-time"), day: text("date"), at: text("time"), long: text("duration") };
const other = {
  id: text("uuid"),
  link: text("uri"),
  mail: text("email"),
  either: { oneOf: [text("date"), text("uuid")] },
};
const tool = {
  name: "echo",
  inputSchema: { type: "object", properties: { ...when, ...other, refuse: { type: "string" } } },
  ...(process.argv.includes("--structured")
    ? { outputSchema: { type: "object", properties: { when: text("date-time") } } }
    : {}),
};
const prompt = { name: "greet", arguments: [{ name: "who", required: false }] };

const results = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {}, prompts: {}, completions: {}, logging: {}, resources: { subscribe: true } },
    serverInfo: { name: "echo-params", version: "1" },
  }),
  "tools/list": () => ({ tools: [tool, { ...tool, name: "Look-Up" }] }),
  "prompts/list": () => ({ prompts: [prompt] }),
  "resources/list": () => ({ resources: [{ uri: "memo://one", name: "one" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/subscribe": () => ({}),
  "logging/setLevel": () => ({}),
  "prompts/get": (_message, params) => ({ messages: [{ role: "user", content: { type: "text", text: params } }] }),
  "completion/complete": (_message, params) => ({ completion: { values: [params] } }),
  "tools/call": (_message, params) => ({
    content: [{ type: "text", text: params }],
    ...(process.argv.includes("--structured") ? { structuredContent: { when: "2026-01-01 10:00" } } : {}),
  }),
};

/** The text of `params` as it was written: it comes last in what the gateway sends. */
const paramsOf = (line) => line.slice(line.indexOf('"params":') + 9, -1);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  const refuse = message.method === "tools/call" ? message.params.arguments?.refuse : undefined;
  const answer = results[message.method];
  const body =
    refuse === "result"
      ? { result: { content: [{ type: "text", text: "no" }], isError: true } }
      : refuse !== undefined
        ? { error: { code: -32602, message: "no", ...(refuse === "data" ? { data: { own: 1 } } : {}) } }
        : answer === undefined
          ? { error: { code: -32601, message: "unknown" } }
          : { result: answer(message, paramsOf(line)) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body })}\n`);
}
