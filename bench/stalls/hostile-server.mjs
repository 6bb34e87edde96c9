// A server that puts one text, or one JSON value as it is written, into the place that a file names:
// `node hostile-server.mjs FILE` over stdio, with `--http` over Streamable HTTP, where it prints its address and reads
// the file for each request.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

let place = "";
let count = 1;
let json = '""';
/** A text is itself. Any other JSON is a mark until the message is text: numbers and names that repeat stay so. */
let value = "";
const mark = "<the value>";
let write;

function readOrders() {
  ({ place = "", count = 1, json } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
  value = json.startsWith('"') ? JSON.parse(json) : mark;
}

const at = (wanted, usual) => (place === wanted ? value : usual);
const toText = (message) => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  return value === mark ? text.replaceAll(JSON.stringify(mark), () => json) : text;
};
const send = (message) => write(toText(message));

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
        { type: "text", text: at("result.text", at("http.result", "ok")) },
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

/** What a response over HTTP is made of besides its message. */
const forms = {
  "http.header": (response) =>
    response.setHeader("x-said", encodeURIComponent(String(value).toWellFormed()).slice(0, 12_000)),
  "http.type": (response) =>
    response.setHeader("content-type", encodeURIComponent(String(value).toWellFormed()).slice(0, 12_000)),
  "http.session": (response) =>
    response.setHeader("mcp-session-id", encodeURIComponent(String(value).toWellFormed()).slice(0, 12_000)),
  "http.comments": (response) => events(response, `:${String(value).replaceAll(/[\r\n]/g, "\n:")}\n\n`),
  "http.names": (response) => events(response, `event: ${String(value).replaceAll(/[\r\n]+/g, "\nevent: ")}\n\n`),
  "http.lines": (response) => events(response, `${String(value).replaceAll(/.{1,4}/gu, "data: $&\n")}\n`),
  "http.events": (response) => events(response, String(value).replaceAll(/.{1,16}/gu, "id: 1\ndata: $&\n\n")),
  "http.raw": (response) => events(response, String(value)),
};

function events(response, text) {
  response.setHeader("content-type", "text/event-stream");
  response.write(text);
}

function respond(request, response) {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text) => (body += text));
  request.on("end", () => {
    readOrders();
    if (request.method === "GET") {
      if (place === "http.card" && request.url?.includes("server-card"))
        response.end(toText({ name: value, title: value }));
      else response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body || "{}");
    const isCall = message.method === "tools/call";
    if (isCall && place === "http.status") return response.writeHead(500).end(String(value));
    if (isCall && place === "http.login")
      return response
        .writeHead(401, {
          "www-authenticate": `Bearer ${encodeURIComponent(String(value).toWellFormed())}`.slice(0, 12_000),
        })
        .end();
    response.setHeader("content-type", "application/json");
    if (isCall) forms[place]?.(response);
    const texts = [];
    write = (text) => texts.push(text);
    answer(message);
    if (texts.length === 0) return response.writeHead(202).end();
    const isStream = texts.length > 1 || response.headersSent || (isCall && place === "http.result");
    if (isStream && !response.headersSent) response.setHeader("content-type", "text/event-stream");
    response.end(isStream ? texts.map((text) => `data: ${text}\n\n`).join("") : texts[0]);
  });
}

if (process.argv.includes("--http")) {
  const server = createServer(respond).listen(0, "127.0.0.1", () => {
    process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
  });
} else {
  readOrders();
  write = (text) => process.stdout.write(`${text}\n`);
  createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
}
process.stdin.on("end", () => process.exit(0)).resume();
