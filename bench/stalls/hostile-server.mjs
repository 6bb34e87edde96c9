// A server over stdio that puts one text, or one JSON value, into the place that a file names. The file is read anew
// for each message, so that one process can be hostile in every way: `node hostile-server.mjs FILE`
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { place = "", count = 1, json } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const value = JSON.parse(json);
const at = (wanted, usual) => (place === wanted ? value : usual);
const write = (text) => process.stdout.write(`${text}\n`);
const send = (message) => write(JSON.stringify({ jsonrpc: "2.0", ...message }));

const object = { type: "object" };
const tool = (index) => ({
  name: at("tools.name", `tool_${index}`) === value ? `${index}${String(value)}` : `tool_${index}`,
  title: at("tools.title", undefined),
  description: at("tools.description", `tool ${index}`),
  inputSchema: {
    ...object,
    properties:
      place === "tools.inputSchema.properties"
        ? { [String(value)]: {} }
        : {
            x: {
              description: at("tools.inputSchema.description", undefined),
              enum: at("tools.inputSchema.enum", undefined) && [value],
              pattern: at("tools.inputSchema.pattern", undefined),
            },
          },
    default: at("tools.inputSchema", undefined),
  },
  outputSchema: place === "tools.outputSchema" ? { ...object, properties: { x: { const: value } } } : undefined,
  annotations: { title: at("tools.annotations", undefined) },
  icons: place === "tools.icons" ? [{ src: value }] : undefined,
  _meta: place === "tools._meta" ? { x: value } : undefined,
});
const times = (make) => Array.from({ length: count }, (_, index) => make(index));
const lists = {
  "tools/list": () => ({ tools: times(tool) }),
  "resources/list": () => ({
    resources: times((index) => ({
      uri: `x:${index}${at("resources.uri", "")}`,
      name: at("resources.name", "r"),
      description: at("resources.description", undefined),
    })),
  }),
  "resources/templates/list": () => ({
    resourceTemplates: times((index) => ({
      uriTemplate: `y:${index}${at("templates.uriTemplate", "")}{z}`,
      name: "t",
    })),
  }),
  "prompts/list": () => ({
    prompts: times((index) => ({
      name: `p${index}`,
      description: at("prompts.description", undefined),
      arguments: [{ name: at("prompts.arguments", "a") }],
    })),
  }),
  "skills/list": () => ({
    skills: times((index) => ({
      uri: `skill://s${index}/SKILL.md`,
      frontmatter: { name: `s${index}`, description: String(at("skills.frontmatter", "a skill")) },
      resources: [],
    })),
  }),
};

function result(method) {
  if (lists[method] !== undefined) return lists[method]();
  if (method === "tools/call")
    return {
      content: [
        { type: "text", text: at("result.text", "ok") },
        ...(place === "result.resource" ? [{ type: "resource", resource: { uri: "x:1", text: value } }] : []),
      ],
      isError: place === "result.isError" || undefined,
      structuredContent: place === "result.structured" ? { x: value } : undefined,
      _meta: place === "result._meta" ? { x: value } : undefined,
    };
  if (method === "resources/read")
    return { contents: [{ uri: "x:0", text: at("resource.text", "ok"), blob: at("resource.blob", undefined) }] };
  if (method === "prompts/get")
    return { messages: [{ role: "user", content: { type: "text", text: at("prompt.text", "ok") } }] };
  if (method === "completion/complete")
    return { completion: { values: at("completion.values", undefined) ? [value] : [] } };
  return {};
}

const notices = {
  "notifications/message": () => ({ level: "error", data: value }),
  "notifications/progress": (token) => ({ progressToken: token, progress: 1, message: value }),
  "notifications/resources/updated": () => ({ uri: value }),
  "notifications/tools/list_changed": () => ({ x: value }),
  "notifications/prompts/list_changed": () => ({ x: value }),
  "notifications/resources/list_changed": () => ({ x: value }),
  "notifications/elicitation/complete": () => ({ elicitationId: value }),
  "notifications/cancelled": () => ({ requestId: 1, reason: value }),
};
const questions = {
  "elicitation/create": () => ({ message: value, requestedSchema: { ...object, properties: {} } }),
  "sampling/createMessage": () => ({
    maxTokens: 1,
    messages: [{ role: "user", content: { type: "text", text: value } }],
  }),
  "roots/list": () => ({ x: value }),
  ping: () => ({ x: value }),
};

function answer({ id, method, params }) {
  if (id === undefined || method === undefined) return;
  if (place === `error:${method}`) return send({ id, error: { code: -32000, message: value, data: { x: value } } });
  if (method === "server/discover") return send({ id, error: { code: -32601, message: "Method not found" } });
  if (method === "initialize")
    return send({
      id,
      result: {
        protocolVersion: params.protocolVersion > "2025-11-25" ? "2025-11-25" : params.protocolVersion,
        capabilities: {
          tools: { listChanged: true },
          resources: {},
          prompts: {},
          logging: {},
          completions: {},
          extensions: { "io.modelcontextprotocol/skills": {} },
          experimental: place === "capabilities" ? { x: value } : undefined,
        },
        serverInfo: {
          name: at("serverInfo.name", "hostile"),
          version: at("serverInfo.version", "1"),
          title: at("serverInfo.title", undefined),
        },
        instructions: at("instructions", undefined),
      },
    });
  if (method === "tools/call") {
    if (notices[place] !== undefined) send({ method: place, params: notices[place](params._meta?.progressToken) });
    if (questions[place] !== undefined) send({ id: "q", method: place, params: questions[place]() });
    if (place === "stdout") write(String(value));
    if (place === "stderr") process.stderr.write(`${String(value)}\n`);
    if (place === "message.id") send({ id: value, result: {} });
    if (place === "message.method") send({ method: value });
    if (place === "message.members") write(`{"jsonrpc":"2.0","x":${json}}`);
    if (place === "message.batch") write(`[${json}]`);
  }
  send({ id, result: result(method) });
}

createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
process.stdin.on("end", () => process.exit(0));
