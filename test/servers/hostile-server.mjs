#!/usr/bin/env node
// An MCP server over stdio whose names, descriptions, results and log lines are markup, scripts and control
// characters, for whatever shows them.
import { createInterface } from "node:readline";

export const hostile = {
  image: '<img src=x onerror="window.hacked=1">',
  script: "</script><script>window.hacked=1</script>",
  link: "javascript:window.hacked=1",
  bidi: "safe\u202Egnp.exe",
  ansi: "\u001b[31mred\u001b[0m",
  tags: "tag\u{E0041}\u{E0042}",
  remote: '<img src="http://example.com/pixel.png">',
};

const all = Object.values(hostile).join(" ");
const tools = [
  {
    name: "evil",
    title: all,
    description: all,
    inputSchema: {
      type: "object",
      title: all,
      properties: { "<b>name</b>": { type: "string", title: all, description: all, enum: ["<i>one</i>", all] } },
    },
  },
  {
    name: "digits",
    description: "Answers with a number that is too long for JavaScript.",
    inputSchema: { type: "object" },
  },
  { name: "wait", description: "Tells how far it is, and never ends.", inputSchema: { type: "object" } },
  { name: "die", description: "Ends the process in the middle of the call.", inputSchema: { type: "object" } },
];

const svg = Buffer.from("<svg onload='window.hacked=1'/>").toString("base64");
/** What is not a tool: each request has one answer. */
const others = {
  "resources/list": {
    resources: [{ uri: "evil://page", name: all, title: all, description: all, mimeType: "text/html" }],
  },
  "resources/templates/list": {
    resourceTemplates: [{ uriTemplate: "evil://{<b>}/{x}", name: all, title: all, description: all }],
  },
  "resources/read": {
    contents: [
      { uri: `evil://${hostile.link}`, mimeType: "text/html", text: all },
      { uri: "evil://drawing", mimeType: "image/svg+xml", blob: svg },
    ],
  },
  "prompts/list": {
    prompts: [{ name: "evil", title: all, description: all, arguments: [{ name: "<b>", description: all }] }],
  },
  "prompts/get": {
    description: all,
    messages: [
      { role: all, content: { type: "text", text: all } },
      { role: "user", content: { type: "image", mimeType: "image/svg+xml", data: svg } },
    ],
  },
};

const send = (message) => process.stdout.write(`${message}\n`);
const answer = (id, result) => send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);

process.stderr.write(`${hostile.image} ${hostile.script} ${hostile.bidi} ${hostile.ansi}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    answer(
      id,
      JSON.stringify({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: all, version: hostile.image },
        instructions: all,
      }),
    );
  else if (method === "tools/list") answer(id, JSON.stringify({ tools }));
  else if (method === "ping") answer(id, "{}");
  else if (Object.hasOwn(others, method)) answer(id, JSON.stringify(others[method]));
  else if (method === "tools/call") call(id, params);
  else if (id !== undefined)
    send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no such method"}}`);
}

function call(id, { name, _meta }) {
  if (name === "die") process.exit(3);
  if (name === "wait") {
    const progress = { progressToken: _meta?.progressToken, progress: 1, total: 4, message: hostile.image };
    send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: progress }));
    return;
  }
  if (name === "digits") {
    answer(
      id,
      '{"content":[{"type":"text","text":"see the structured content"}],"structuredContent":{"exact":9007199254740993}}',
    );
    return;
  }
  const content = [
    { type: "text", text: all },
    {
      type: "image",
      mimeType: "image/svg+xml",
      data: Buffer.from("<svg onload='window.hacked=1'/>").toString("base64"),
    },
    { type: "resource_link", uri: hostile.link, name: all },
    { type: "resource", resource: { uri: hostile.link, text: all } },
  ];
  answer(id, JSON.stringify({ content, structuredContent: { all } }));
}
